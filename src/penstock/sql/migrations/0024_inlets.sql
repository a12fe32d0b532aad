-- Inlets: what others queued (pgmq, SQS, S3 events, BullMQ) becomes a task, exactly once.

-- A sender's queue that is read. `source` is the ledger's namespace. A removed inlet keeps its row and its ledger until the
-- ledger is swept, so that adding it again takes nothing twice. `task_types`: the only types its messages may name; null is any.
create table queues.inlet (
  inlet_id integer generated always as identity primary key,
  name text not null
    constraint inlet_name_is_plain check (name ~ '^[a-z][a-z0-9_.-]{0,62}$'),
  kind text not null
    constraint inlet_kind_is_plain check (kind ~ '^[a-z][a-z0-9_]{0,30}$'),
  source text not null
    constraint inlet_source_once unique,
  tenant_id uuid,
  task_types text[] constraint inlet_task_types_are_some check (cardinality(task_types) > 0),
  config jsonb not null default '{}',
  enabled boolean not null default true,
  retention interval not null
    constraint inlet_retention_is_positive check (retention > interval '0'),
  created_at timestamptz not null,
  removed_at timestamptz
);
create unique index inlet_named_once on queues.inlet (name) where removed_at is null;

-- The ledger. Not partitioned by time: a key must be unique for as long as the sender may deliver it again.
create table queues.taken (
  inlet_id integer not null,
  key_hash bytea not null,
  task_id bigint not null,
  taken_at timestamptz not null,
  tenant_id uuid,
  constraint taken_pkey primary key (inlet_id, key_hash)
);
create index taken_taken_at_idx on queues.taken using brin (taken_at) with (pages_per_range = 32, autosummarize = on);

-- What was counted, one row per batch: two movers never wait for each other. maintain() adds old rows up into one per inlet.
-- `lag`: how long the oldest message of the batch had waited.
create table queues.inlet_count (
  inlet_id integer not null,
  at timestamptz not null,
  received bigint not null,
  taken bigint not null,
  duplicates bigint not null,
  refused bigint not null,
  lag interval,
  last_taken_at timestamptz
);
create index inlet_count_inlet_id_idx on queues.inlet_count (inlet_id, at);

-- Which process reads an inlet, until when, and how that goes. Only for economy: two readers at once take nothing twice.
create table queues.inlet_hold (
  inlet_id integer primary key,
  holder text not null,
  held_since timestamptz not null,
  held_until timestamptz not null,
  backlog bigint,
  lag interval,
  error text
) with (fillfactor = 50);

-- Messages that were refused, for people. The message itself is in the sender's own place for dead letters.
create table queues.inlet_refusal (
  inlet_id integer not null,
  refusal_id bigint generated always as identity,
  at timestamptz not null,
  message_key text not null,
  reason text not null,
  tenant_id uuid,
  constraint inlet_refusal_pkey primary key (inlet_id, refusal_id)
);
create index inlet_refusal_at_idx on queues.inlet_refusal (at);
create index inlet_refusal_message_key_idx on queues.inlet_refusal (inlet_id, message_key);

-- How often this task may be tried, if its sender says so; null is what its type says.
alter table queues.task add column max_attempts smallint
  constraint max_attempts_is_positive check (max_attempts > 0);
alter table queues.task_kept add column max_attempts smallint;
alter table queues.dead_letter add column max_attempts smallint;

do $security$
declare
  v_table regclass;
begin
  foreach v_table in array array[
    'queues.inlet', 'queues.taken', 'queues.inlet_count', 'queues.inlet_hold', 'queues.inlet_refusal'
  ]::regclass[]
  loop
    execute format('alter table %s enable row level security', v_table);
    execute format('alter table %s force row level security', v_table);
    execute format('create policy queue_owner on %s to penstock_queue using (true) with check (true)', v_table);
  end loop;
end
$security$;
