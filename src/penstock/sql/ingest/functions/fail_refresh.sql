-- Notes that the provider rejected a source's refresh token: it needs to be connected again. `_code` is the provider's error
-- code and nothing else, because its texts may name people. Returns false if the source has another refresh token by now.
-- Locks: the source's row. Raises PS012, PS013, PS017.
create or replace function ingest.fail_refresh(_source_id uuid, _refresh_id uuid, _code text)
returns boolean
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source := ingest.lock_source(_source_id);
begin
  if v_source.refresh_token_vault_id is distinct from _refresh_id then
    return false;
  end if;
  update ingest.source s set
    status = 'error',
    status_message = 'refresh_token_invalid: ' || left(regexp_replace(_code, '[^A-Za-z0-9_.-]', '', 'g'), 100),
    updated_at = internal.clock()
  where s.source_id = _source_id;
  return true;
end;
$$;
