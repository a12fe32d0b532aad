-- A shard that the caller holds, with its row share-locked, so that nobody claims it before the caller's transaction ends. Runs with
-- its caller's rights. Raises PS006 for a token that a later claim has replaced or a shard that is closed, PS012.
create or replace function ingest.hold_shard(_run_id uuid, _shard integer, _token integer)
returns ingest.bulk_shard
language plpgsql
as $$
declare
  v_shard ingest.bulk_shard;
begin
  select * into v_shard from ingest.bulk_shard s
  where s.tenant_id = internal.require_tenant() and s.run_id = _run_id and s.shard = _shard
    and s.token = _token and s.closed_at is null
  for share;
  if not found then
    raise exception using errcode = 'PS006', detail = 'token',
      message = format('shard %s of re-index %s is closed, or another worker has it', _shard, _run_id),
      hint = 'Discard the work; the present holder finishes it.';
  end if;
  return v_shard;
end;
$$;
