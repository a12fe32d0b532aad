-- Pauses a source, or resumes it: a paused source accepts nothing and is not synced, and its subscription at the provider is
-- dropped; resumed, it is synced at once, and subscribed again. Repeating it changes nothing.
-- Locks: the source's row. Raises PS012, PS013, PS017.
create or replace function ingest.pause_source(_source_id uuid, _paused boolean)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.lock_source(_source_id);
  update ingest.source s set
    status = case when _paused then 'paused' else 'active' end::ingest.source_status,
    status_message = null, updated_at = internal.clock()
  where s.source_id = _source_id and (s.status = 'paused') <> _paused;
  if not found then
    return;
  end if;
  if exists (select from ingest.subscription u where u.source_id = _source_id and u.created_at is not null) then
    perform ingest.enqueue_subscription(_source_id);
  end if;
  if not _paused and exists (
    select from ingest.source s join internal.source_kind k on k.kind = s.kind
    where s.source_id = _source_id and k.identity = 'item')
  then
    perform ingest.request_sync(_source_id, false, 'resumed');
  end if;
end;
$$;
