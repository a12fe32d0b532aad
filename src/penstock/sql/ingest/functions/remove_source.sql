-- Removes a source for good: nothing more comes in by it, and its secrets are for the caller to drop in the same
-- transaction. Its documents stay. Returns the ids of its secrets. Locks: the source's row. Raises PS012, PS013, PS017.
create or replace function ingest.remove_source(_source_id uuid)
returns uuid[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source := ingest.lock_source(_source_id);
begin
  update ingest.source s set
    removed_at = internal.clock(), updated_at = internal.clock(), status = 'paused', secret_ids = '{}',
    access_token_vault_id = null, refresh_token_vault_id = null, token_expires_at = null
  where s.source_id = _source_id;
  return array_remove(
    v_source.secret_ids || v_source.access_token_vault_id || v_source.refresh_token_vault_id, null);
end;
$$;
