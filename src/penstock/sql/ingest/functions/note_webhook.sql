-- Records a delivery by its replay key; false when it was already received. It commits together with the delivery's document,
-- so a delivery that failed may be sent again. A paused or removed source counts as missing. Raises PS012, PS013, PS017.
create or replace function ingest.note_webhook(_source_id uuid, _replay_key bytea)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform ingest.open_tenant();
  if not exists (
    select from ingest.source s
    where s.tenant_id = internal.require_tenant() and s.source_id = _source_id and s.status <> 'paused'
      and s.removed_at is null)
  then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id), hint = 'List the sources of this tenant: penstock source list';
  end if;
  insert into ingest.webhook_seen (tenant_id, source_id, replay_key, seen_at)
  values (internal.require_tenant(), _source_id, _replay_key, internal.clock())
  on conflict do nothing;
  return found;
end;
$$;
