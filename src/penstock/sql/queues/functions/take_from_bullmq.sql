-- Moves jobs of BullMQ 6's Postgres backend into the queue in the caller's transaction: BullMQ's own functions claim and
-- close them, queues.take_in writes ledger and tasks between. Refused jobs go to BullMQ's failed set with the reason. Where
-- nothing waits, jobs whose worker is gone go back to waiting, as BullMQ's own workers do it, every 30 seconds at most.
-- `sent_at` and `bytes`: when the job was added (null if its producer gave a time that does not exist), and its size, by which
-- the caller chooses the next _limit.
-- Security invoker, because it calls functions in a schema that the caller names: the caller needs its own rights there.
-- Locks: those of the jobs; then ledger keys in order; then BullMQ's advisory locks, by parent. Raises PS005, and what
-- queues.take_in raises.
create or replace function queues.take_from_bullmq(
  _inlet text,
  _bullmq_queue text,
  _task_types jsonb,
  _limit integer default 100,
  _schema text default 'bullmq',
  _tenant_key text default null,
  _levels integer[] default '{1,2,3,4,5,6,7,8,9}',
  _metadata_key text default 'bullmq'
)
returns table (job_id text, outcome text, task_id bigint, reason text, sent_at timestamptz, bytes bigint)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now bigint := extract(epoch from internal.clock()) * 1000;
  v_token text := 'penstock ' || gen_random_uuid();
  v_job jsonb;
  v_jobs jsonb[] := '{}';
  v_messages jsonb[] := '{}';
  v_message jsonb;
  v_parent boolean;
  v_ms bigint;
  v_added_at timestamptz;
  v_times timestamptz[] := '{}';
  v_attempts numeric;
  v_ended record;
begin
  if to_regprocedure(format('%I.move_to_active(text,text,bigint,bigint,text,integer,bigint)', _schema)) is null
    or to_regprocedure(format('%I.move_to_completed(text,text,text,jsonb,bigint,boolean,bigint,integer)', _schema)) is null
    or to_regprocedure(format('%I.move_to_failed(text,text,text,text,jsonb,bigint,boolean,bigint,integer)', _schema)) is null
    or to_regprocedure(format('%I.move_stalled_jobs_to_wait(text,integer,bigint,bigint)', _schema)) is null
  then
    raise exception using errcode = 'PS005', detail = 'schema',
      message = format('schema %L is not one of BullMQ 6', _schema),
      hint = 'Name the schema of its Postgres backend, and let BullMQ migrate it first.';
  end if;
  if _task_types is null or jsonb_typeof(_task_types) <> 'object' then
    raise exception using errcode = 'PS005', detail = 'task_types',
      message = 'the task types are not an object',
      hint = 'Give the task type of each job name, for example {"ingest": "ingest_document"}.';
  end if;
  if coalesce(cardinality(_levels), 0) > 9 then
    raise exception using errcode = 'PS005', detail = 'levels',
      message = 'there are more than 9 levels',
      hint = 'Penstock has the priorities 0 to 9: name at most 9 priorities of BullMQ at which a new level starts.';
  end if;

  while cardinality(v_jobs) < _limit loop
    execute format('select to_jsonb(j) from %I.move_to_active($1, $2, 60000, $3, $4, null, null) as j', _schema)
    into v_job using _bullmq_queue, v_token, v_now, 'penstock';
    exit when v_job is null;
    -- A producer may give any number as a job's timestamp. Null: later than the year 9999, which not every driver can read.
    v_ms := (v_job ->> 'added_at_ms')::bigint;
    v_added_at := case when v_ms between 0 and 253402300799999 then to_timestamp(v_ms / 1000.0) end;
    v_attempts := case jsonb_typeof(v_job -> 'opts' -> 'attempts') when 'number' then (v_job -> 'opts' -> 'attempts')::numeric end;
    v_message := jsonb_build_object(
      'key', format('%s:%s:%s', _bullmq_queue, v_job ->> 'id', v_job ->> 'added_at_ms'),
      'sent_at', v_added_at);
    execute format(
      'select exists (select from %I.job_dependency d where d.parent_queue = $1 and d.parent_id = $2)', _schema)
    into v_parent using _bullmq_queue, v_job ->> 'id';
    v_message := v_message || case
      when v_job ->> 'scheduler_id' is not null then jsonb_build_object('refused', format(
        'job "%s" comes from a scheduler of BullMQ: declare a schedule in Penstock and remove the scheduler from the queue',
        v_job ->> 'name'))
      when v_parent then jsonb_build_object('refused', format(
        'job "%s" is the parent of a flow: its children were moved as tasks and may still run; '
        'enqueue its work from the last of them', v_job ->> 'name'))
      when _task_types ->> (v_job ->> 'name') is null then jsonb_build_object('refused', format(
        'queue "%s" has no task type for jobs named "%s": add it to the task types and retry the job',
        _bullmq_queue, v_job ->> 'name'))
      when jsonb_typeof(v_job -> 'data') <> 'object' then jsonb_build_object('refused', format(
        'the data of job "%s" is not an object: a task''s payload has to be one', v_job ->> 'name'))
      when _tenant_key is not null and jsonb_typeof(v_job -> 'data' -> _tenant_key) is distinct from 'string'
        then jsonb_build_object('refused', format(
        'the data of job "%s" has no "%s", which names the tenant', v_job ->> 'name', _tenant_key))
      else jsonb_strip_nulls(jsonb_build_object(
        'task_type', _task_types ->> (v_job ->> 'name'),
        'tenant', v_job -> 'data' ->> _tenant_key,
        'priority', (select count(*) from unnest(_levels) as l (level) where l.level <= (v_job ->> 'priority')::integer),
        'max_attempts', nullif(greatest(least(v_attempts, 1000), 0)::integer, 0),
        'unique_key', case when v_job ->> 'id' !~ '^[0-9]+$' then format('%s:%s', _bullmq_queue, v_job ->> 'id') end,
        'on_duplicate', case when v_job ->> 'id' !~ '^[0-9]+$' then 'replace' end))
        || jsonb_build_object('payload', case
          when _metadata_key is null or v_job -> 'data' ? _metadata_key then v_job -> 'data'
          else v_job -> 'data' || jsonb_build_object(_metadata_key, jsonb_strip_nulls(jsonb_build_object(
            'queue', _bullmq_queue,
            'id', v_job ->> 'id',
            'name', v_job ->> 'name',
            'added_at', v_added_at,
            'attempts', v_job -> 'opts' -> 'attempts',
            'backoff', v_job -> 'opts' -> 'backoff',
            'priority', v_job -> 'priority',
            'parent', v_job -> 'parent_key'))) end)
    end;
    v_jobs := v_jobs || v_job;
    v_times := v_times || v_added_at;
    v_messages := v_messages || v_message;
  end loop;
  if cardinality(v_jobs) = 0 then
    -- 100: a job may be lost by any number of workers, it has not been looked at by ours.
    execute format('select %I.move_stalled_jobs_to_wait($1, 100, $2, 30000)', _schema) using _bullmq_queue, v_now;
    return;
  end if;

  for v_ended in
    select j.job ->> 'id' as job_id, t.outcome, t.task_id, t.reason,
      j.added_at as sent_at, pg_column_size(j.job) as size
    from queues.take_in(_inlet, to_jsonb(v_messages)) t
    join unnest(v_jobs, v_times) with ordinality as j (job, added_at, n) on j.n = t."position" + 1
    order by j.job ->> 'parent_key', j.job ->> 'id'
  loop
    if v_ended.outcome = 'refused' then
      execute format('select %I.move_to_failed($1, $2, $3, $4, null, $5, false, null, null)', _schema)
      using _bullmq_queue, v_ended.job_id, v_token, v_ended.reason, v_now;
    else
      -- Removed, not kept among the completed: there it would make BullMQ drop the next job with this id.
      execute format('select %I.move_to_completed($1, $2, $3, $4, $5, true, null, null)', _schema)
      using _bullmq_queue, v_ended.job_id, v_token,
        jsonb_build_object('task_id', v_ended.task_id, 'outcome', v_ended.outcome), v_now;
    end if;
    job_id := v_ended.job_id;
    outcome := v_ended.outcome;
    task_id := v_ended.task_id;
    reason := v_ended.reason;
    sent_at := v_ended.sent_at;
    bytes := v_ended.size;
    return next;
  end loop;
end;
$$;
