-- Notes that the provider rejected an access token before its time: the next sync refreshes it. Returns false if the source
-- points at another one by now. Locks: the source's row. Raises PS012, PS013, PS017.
create or replace function ingest.expire_token(_source_id uuid, _access_id uuid)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source := ingest.lock_source(_source_id);
begin
  update ingest.source s set token_expires_at = null, updated_at = internal.clock()
  where s.source_id = v_source.source_id and s.access_token_vault_id = _access_id;
  return found;
end;
$$;
