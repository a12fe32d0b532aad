-- Items of a source that a person restored and a sync has not fetched yet, with the mailbox's ids of their mails. Raises PS012.
create or replace function ingest.items_to_restore(_source_id uuid, _limit integer default 500)
returns table (external_id text, message_id text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select d.external_id, d.message_id
  from ingest.decision d
  where d.tenant_id = internal.require_tenant() and d.source_id = _source_id and d.stage = 1
    and d.reversed_at is not null and d.outcome is null
  order by d.reversed_at, d.decision_id
  limit _limit;
$$;
