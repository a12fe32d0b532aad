-- How the canary of an operation fares: how many of the items that were acted on succeeded, failed, and have not ended yet. What an
-- action does at once has succeeded; a document, a replayed task, a source or a
-- process is judged by the end of its run. Runs with its caller's rights.
create or replace function ingest.canary_outcomes(_operation ingest.operation)
returns table (succeeded bigint, failed bigint, pending bigint)
language sql
as $$
  select count(*) filter (where s.ended = 'good'), count(*) filter (where s.ended = 'bad'),
    count(*) filter (where s.ended is null)
  from (
    select case
      when i.outcome = 'failed' then 'bad'
      when _operation.action in ('documents.retry', 'documents.reindex') then (
        select case
          when d.status in ('indexed', 'skipped', 'deleted') then 'good'
          when d.status = 'failed' then 'bad' end
        from ingest.document d where d.document_id = i.item::uuid)
      when _operation.action = 'dead.replay' then queues.how_it_ended(i.item::bigint)
      -- As text: a value of the enum that a migration of the same transaction added cannot be named yet.
      when _operation.action::text = 'sources.sync' then (
        select case when j.status = 'failed' then 'bad' when j.finished_at is not null then 'good' end
        from ingest.ingestion_job j
        where j.source_id = i.item::uuid and j.started_at >= _operation.started_at
        order by j.job_id desc limit 1)
      when _operation.action::text = 'processes.retry' then
        case all_tenants.root_state(i.item) when 'succeeded' then 'good' when 'failed' then 'bad' end
      else 'good' end as ended
    from ingest.operation_item i
    where i.operation_id = _operation.operation_id and i.ordinal < _operation.canary_size and i.outcome in ('done', 'failed')) s;
$$;
