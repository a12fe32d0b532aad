-- Removes a source for good: it accepts nothing more, and the caller drops its secrets in the same transaction. Its documents
-- stay. Returns the ids of its secrets, those of earlier generations too. Locks: the source's row. Raises PS005 for a
-- source that is connected, PS012, PS013, PS017.
create or replace function ingest.remove_source(_source_id uuid)
returns uuid[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source := ingest.lock_source(_source_id);
begin
  if exists (select from internal.source_kind k where k.kind = v_source.kind and k.identity = 'item') then
    raise exception using errcode = 'PS005', detail = 'documents',
      message = format('say what happens to the documents of the %s source', v_source.kind),
      hint = 'Disconnect it with documents=keep or documents=delete: penstock source disconnect ' || _source_id;
  end if;
  update ingest.source s set
    removed_at = internal.clock(), updated_at = internal.clock(), status = 'paused', secret_ids = '{}',
    access_token_vault_id = null, refresh_token_vault_id = null, token_expires_at = null
  where s.source_id = _source_id;
  return array(
    select unnest(v_source.secret_ids || v_source.access_token_vault_id || v_source.refresh_token_vault_id)
    union
    select s.secret_id from vault.secret s where s.tenant_id = v_source.tenant_id and s.source_id = _source_id
    except
    select null);
end;
$$;
