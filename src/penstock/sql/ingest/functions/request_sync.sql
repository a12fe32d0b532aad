-- Asks for a sync of a source: many requests, one sync; a request during a sync causes exactly one more, which is full only if
-- that is asked for during it, too. Returns the task.
-- Locks: the source's row, shared; its pending sync. Raises PS011 when a person has to do something first, PS012, PS013, PS017.
create or replace function ingest.request_sync(_source_id uuid, _full boolean default false, _reason text default 'asked')
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source;
begin
  perform ingest.open_tenant();
  select * into v_source from ingest.source s
  where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.removed_at is null
  for share;
  if not found then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id),
      hint = 'List the sources of this tenant: penstock source list';
  end if;
  if not exists (select from internal.source_kind k where k.kind = v_source.kind and k.identity = 'item') then
    raise exception using errcode = 'PS011', detail = 'source_id',
      message = format('a %s is not synced: others send to it', v_source.kind),
      hint = 'Sync a connected source.';
  end if;
  if v_source.status in ('paused', 'error') then
    raise exception using errcode = 'PS011', detail = 'status',
      message = format('the source %s is %s%s', v_source.name,
        case v_source.status when 'paused' then 'paused' else 'not connected' end, coalesce(': ' || v_source.status_message, '')),
      hint = case v_source.status when 'paused' then 'Resume it first: penstock source resume '
        || v_source.source_id else ingest.reconnect_action(v_source) end;
  end if;
  insert into ingest.pending_sync as p (source_id, tenant_id, is_full, reason, requested_at)
  values (_source_id, v_source.tenant_id, _full, _reason, internal.clock())
  on conflict (source_id) do update set
    seq = p.seq + 1, reason = excluded.reason, requested_at = excluded.requested_at,
    is_full = excluded.is_full or (p.is_full and not exists (
      select from ingest.ingestion_job j
      where j.source_id = p.source_id and j.finished_at is null and j.kind = 'full_sync' and j.pending_seq = p.seq));
  return ingest.enqueue_sync(_source_id);
end;
$$;
