-- Points a source at the newly stored secret with its password, and asks for a sync: a source that could not log in is active
-- again. Returns the secrets it pointed at before; the caller drops them in the same transaction.
-- Locks: the source's row, its pending sync. Raises PS005 if the secret is not a password of this source, PS012, PS013, PS017.
create or replace function ingest.set_password(_source_id uuid, _secret_id uuid)
returns uuid[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_source ingest.source := ingest.lock_source(_source_id);
begin
  if not exists (
    select from vault.secret s
    where s.tenant_id = v_source.tenant_id and s.source_id = _source_id and s.secret_id = _secret_id
      and s.purpose = 'password')
  then
    raise exception using errcode = 'PS005', detail = 'secret_id',
      message = format('secret %s is not a password of source %s', _secret_id, _source_id),
      hint = 'Store the password for this source first.';
  end if;
  update ingest.source s set
    secret_ids = array[_secret_id],
    status = case when s.status = 'error' then 'active' else s.status end,
    status_message = case when s.status = 'error' then null else s.status_message end,
    updated_at = internal.clock()
  where s.source_id = _source_id
  returning * into v_source;
  if v_source.status <> 'paused' then
    perform ingest.request_sync(_source_id, false, 'password');
  end if;
  return array(
    select s.secret_id from vault.secret s
    where s.tenant_id = v_source.tenant_id and s.source_id = _source_id and s.purpose = 'password'
      and s.secret_id <> _secret_id);
end;
$$;
