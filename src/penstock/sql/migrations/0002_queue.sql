-- The queue: an immutable task, a narrow ready row deleted at claim, an open lease deleted at close,
-- and history that is only appended and leaves by dropping a partition.

create type queues.outcome as enum (
  'completed', 'failed', 'lost', 'snoozed', 'cancelled', 'released', 'skipped', 'merged', 'replaced'
);

create type queues.on_duplicate as enum ('skip', 'replace', 'coalesce');

-- One sequence gives task ids and tickets, so a task that goes straight to ready has seq = task_id.
create sequence queues.task_id_seq;
create sequence queues.lease_id_seq;
create sequence queues.error_id_seq;

create table queues.queue (
  queue_id smallint generated always as identity primary key,
  queue_name text not null constraint queue_named_once unique
    constraint queue_name_is_plain check (queue_name ~ '^[a-z][a-z0-9_.-]{0,62}$'),
  paused_at timestamptz,
  max_running integer constraint max_running_is_positive check (max_running > 0),
  rate_count integer constraint rate_count_is_positive check (rate_count > 0),
  rate_period interval constraint rate_period_is_positive check (rate_period > interval '0'),
  rate_burst integer constraint rate_burst_is_positive check (rate_burst > 0),
  payload_limit integer not null default 1048576 constraint payload_limit_is_positive check (payload_limit > 0),
  created_at timestamptz not null default now(),
  constraint rate_is_whole check ((rate_count is null) = (rate_period is null))
);

-- Limits of a queue's keys; the row without a key is the rule for each key that has none of its own.
create table queues.key_limit (
  queue_id smallint not null,
  limit_key bytea,
  max_running integer constraint max_running_is_positive check (max_running > 0),
  rate_count integer constraint rate_count_is_positive check (rate_count > 0),
  rate_period interval constraint rate_period_is_positive check (rate_period > interval '0'),
  rate_burst integer constraint rate_burst_is_positive check (rate_burst > 0),
  constraint key_limited_once unique nulls not distinct (queue_id, limit_key),
  constraint rate_is_whole check ((rate_count is null) = (rate_period is null))
);

create table queues.task_type (
  task_type text primary key,
  queue_id smallint not null,
  priority smallint not null default 5 constraint priority_is_a_digit check (priority between 0 and 9),
  max_attempts smallint not null default 5 constraint max_attempts_is_positive check (max_attempts > 0),
  max_losses smallint not null default 3 constraint max_losses_is_positive check (max_losses > 0),
  retry jsonb not null default '{"default": {"kind": "exponential", "base": 1, "factor": 4, "cap": 3600, "jitter": 0.25}}',
  on_duplicate queues.on_duplicate not null default 'skip',
  time_limit interval constraint time_limit_is_positive check (time_limit > interval '0'),
  required_keys text[] not null default '{}',
  declared_at timestamptz not null default now()
);

create table queues.task (
  task_id bigint not null,
  task_type text not null,
  payload jsonb not null,
  enqueued_at timestamptz not null,
  scheduled_at timestamptz not null,
  queue_id smallint not null,
  priority smallint not null,
  tenant_id uuid,
  unique_key bytea,
  on_duplicate queues.on_duplicate,
  limit_key bytea,
  time_limit interval,
  constraint task_pkey primary key (task_id)
) partition by range (task_id);

-- Unfinished tasks of dropped partitions, and replayed ones.
create table queues.task_kept (
  like queues.task including defaults,
  kept_at timestamptz not null default now(),
  constraint task_kept_pkey primary key (task_id)
);

create table queues.ready (
  lane bigint not null,
  seq bigint not null,
  task_id bigint not null,
  failures smallint not null,
  losses smallint not null,
  held smallint not null,
  constraint ready_pkey primary key (lane, seq)
) with (
  vacuum_truncate = off,
  autovacuum_analyze_threshold = 2000000000,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0,
  fillfactor = 100
);

create table queues.lease (
  lease_id bigint not null,
  task_id bigint not null,
  lane bigint not null,
  claimed_at timestamptz not null,
  deadline_at timestamptz,
  tenant_id uuid,
  worker_id integer not null,
  failures smallint not null,
  losses smallint not null,
  held smallint not null,
  constraint lease_pkey primary key (worker_id, lease_id)
) with (
  vacuum_truncate = off,
  autovacuum_analyze_threshold = 2000000000,
  autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000,
  autovacuum_vacuum_cost_delay = 0
);
create index lease_deadline_at_idx on queues.lease (deadline_at) where deadline_at is not null;

create table queues.attempt (
  attempt_id bigint not null,
  task_id bigint not null,
  claimed_at timestamptz,
  closed_at timestamptz not null,
  tenant_id uuid,
  worker_id integer,
  outcome queues.outcome not null,
  attempt_number smallint not null
) partition by range (attempt_id);
create index attempt_task_id_idx on queues.attempt using brin (task_id) with (pages_per_range = 32, autosummarize = on);
create index attempt_id_idx on queues.attempt using brin (attempt_id) with (pages_per_range = 32, autosummarize = on);

create table queues.error (
  error_id bigint not null default nextval('queues.error_id_seq'),
  task_id bigint not null,
  attempt_id bigint,
  tenant_id uuid,
  attempt_number smallint,
  worker_id integer,
  error_code text not null,
  error_message text not null,
  details jsonb,
  fingerprint text not null,
  occurred_at timestamptz not null
) partition by range (error_id);
create index error_task_id_idx on queues.error (task_id);

create table queues.waiting (
  queue_id smallint not null,
  due_at timestamptz not null,
  seq bigint not null,
  task_id bigint,
  lane bigint not null,
  failures smallint not null,
  losses smallint not null,
  held smallint not null,
  keyed boolean not null,
  wake_key bytea,
  tenant_id uuid,
  constraint waiting_pkey primary key (queue_id, due_at, seq),
  constraint waiting_is_task_or_wake check ((task_id is null) = (wake_key is not null))
) with (vacuum_truncate = off, autovacuum_analyze_threshold = 2000000000, autovacuum_vacuum_scale_factor = 0,
  autovacuum_vacuum_threshold = 5000);
create index waiting_task_id_idx on queues.waiting (task_id) where task_id is not null;
create index waiting_wake_key_idx on queues.waiting (wake_key) where wake_key is not null;

create table queues.parked (
  key bytea not null,
  priority smallint not null,
  seq bigint not null,
  task_id bigint not null,
  lane bigint not null,
  queue_id smallint not null,
  failures smallint not null,
  losses smallint not null,
  held smallint not null,
  tenant_id uuid,
  constraint parked_pkey primary key (key, priority, seq)
);
create index parked_task_id_idx on queues.parked (task_id);
create index parked_queue_id_idx on queues.parked (queue_id);

-- Who uses a key now. lane and seq say where its ready row was put, so that "not started" can be asked.
create table queues.held (
  key bytea not null,
  task_id bigint not null,
  lane bigint,
  seq bigint,
  held_at timestamptz not null,
  constraint held_pkey primary key (key, task_id)
);
create index held_task_id_idx on queues.held (task_id);

-- A closed task's keys, waiting for the next admit to hand them over.
create table queues.freed (
  queue_id smallint not null,
  freed_id bigint generated always as identity,
  key bytea not null,
  task_id bigint not null,
  constraint freed_pkey primary key (queue_id, freed_id)
);
create index freed_key_idx on queues.freed (key);

create table queues.rate_grant (
  key bytea not null,
  grant_id bigint generated always as identity,
  granted_at timestamptz not null,
  granted integer not null,
  arrival_at timestamptz not null,
  constraint rate_grant_pkey primary key (key, grant_id)
);

create table queues.worker (
  worker_id integer generated always as identity primary key,
  worker_name text not null,
  queue_names text[] not null,
  lease_for interval not null,
  started_at timestamptz not null,
  beat_at timestamptz not null,
  stopped_at timestamptz,
  lost_at timestamptz
) with (fillfactor = 50);
create index worker_silent_idx on queues.worker (worker_id) where stopped_at is null;

-- Worker 0 issues the leases of queues.dequeue_next_available_task(); it never beats and is never silent.
insert into queues.worker (worker_id, worker_name, queue_names, lease_for, started_at, beat_at, stopped_at)
overriding system value values (0, 'dequeue_next_available_task', '{}', interval '5 minutes', now(), 'infinity', null);

create table queues.idle (
  queue_id smallint not null,
  worker_id integer not null,
  constraint idle_pkey primary key (queue_id, worker_id)
);

create table queues.schedule (
  schedule_name text primary key,
  cron text not null,
  timezone text not null default 'UTC',
  task_type text not null,
  payload jsonb not null default '{}',
  queue_name text,
  priority smallint,
  enabled boolean not null default true,
  next_at timestamptz not null,
  last_at timestamptz,
  last_task_id bigint,
  declared_at timestamptz not null default now()
);

-- Requests to stop tasks that were running when they were cancelled.
create table queues.cancel (
  task_id bigint primary key,
  worker_id integer not null,
  lease_id bigint not null,
  reason text not null,
  requested_at timestamptz not null,
  requested_by text not null
);
create index cancel_worker_id_idx on queues.cancel (worker_id);

create table queues.dead_letter (
  like queues.task including defaults,
  attempts smallint not null,
  losses smallint not null,
  reason text not null constraint reason_is_known
    check (reason in ('exhausted', 'not_retriable', 'quarantined')),
  error_code text not null,
  error_message text not null,
  fingerprint text not null,
  errors jsonb not null,
  died_at timestamptz not null,
  constraint dead_letter_pkey primary key (task_id)
);
create index dead_letter_died_at_idx on queues.dead_letter (died_at, task_id);
create index dead_letter_fingerprint_idx on queues.dead_letter (fingerprint);
create index dead_letter_tenant_id_idx on queues.dead_letter (tenant_id) where tenant_id is not null;

create table queues.audit (
  audit_id bigint generated always as identity primary key,
  at timestamptz not null,
  actor text not null,
  action text not null,
  subject text not null,
  detail jsonb not null default '{}'
);

-- Tenants whose lanes are stopped for good. Transactions older than the mark may not have seen the stop.
create table queues.stopped_tenant (
  tenant_id uuid primary key,
  spared_queue_id smallint,
  stopped_at timestamptz not null,
  mark xid8
);

-- The partitions of task, attempt and error: which ids, current since when, closed when.
create table queues.partition (
  child text primary key,
  parent text not null,
  from_id bigint not null,
  to_id bigint not null,
  opened_at timestamptz,
  closed_at timestamptz,
  constraint partition_starts_once unique (parent, from_id)
);

do $$
declare
  v_parent text;
  v_n integer;
begin
  foreach v_parent in array array['task', 'attempt', 'error'] loop
    for v_n in 0..3 loop
      execute format(
        'create table queues.%I partition of queues.%I for values from (%s) to (%s)',
        format('%s_p%s', v_parent, v_n), v_parent, v_n * 100000000::bigint, (v_n + 1) * 100000000::bigint);
      insert into queues.partition (child, parent, from_id, to_id, opened_at)
      values (format('%s_p%s', v_parent, v_n), v_parent, v_n * 100000000::bigint, (v_n + 1) * 100000000::bigint,
        case when v_n = 0 then now() end);
    end loop;
  end loop;
end;
$$;

-- Channels have queues of their own: a slow mail server delays mail only.
insert into queues.queue (queue_name)
values ('default'), ('processes'), ('email'), ('sms'), ('delete-document'), ('account-deletion');

-- The channels a supervisor can name. Their retries belong to the supervisor, so a failure is final here.
insert into queues.task_type (task_type, queue_id, retry)
select c.task_type, q.queue_id, '{"default": {"kind": "none"}}'
from (
  values ('db_function', 'processes'), ('email', 'email'), ('sms', 'sms'), ('file_delete', 'delete-document')
) as c (task_type, queue_name)
join queues.queue q using (queue_name);

-- Nobody but the queue's owner reads these tables; everyone else calls functions. Forced, so that the
-- owner's policy is the only door even for a role that comes to own them.
do $$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid::regclass
    from pg_class c
    where c.relnamespace = 'queues'::regnamespace and c.relkind in ('r', 'p')
  loop
    execute format('alter table %s enable row level security', v_table);
    execute format('alter table %s force row level security', v_table);
    execute format('create policy queue_owner on %s to penstock_queue using (true) with check (true)', v_table);
  end loop;
end;
$$;
