-- Changes the transaction's own tenant; fields that are not given keep their values. Raises PS005, PS012, PS013, PS017.
create or replace function accounts.set_tenant(_changes jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant;
begin
  perform ingest.open_tenant();
  perform accounts.check_changes(_changes, array['name'], array[
    'max_upload_bytes', 'requests_per_minute', 'monthly_token_budget', 'max_documents', 'max_stored_bytes', 'max_keys',
    'webhook_url', 'webhook_secret_id', 'contact_email']);
  if _changes ->> 'contact_email' is not null
    and (_changes ->> 'contact_email' !~ '^[^\s@<>]+@[^\s@<>]+$' or length(_changes ->> 'contact_email') > 320)
  then
    raise exception using errcode = 'PS005', detail = 'contact_email',
      message = format('%L is not an email address', left(_changes ->> 'contact_email', 320)),
      hint = 'Write name@example.org.';
  end if;
  if _changes ->> 'webhook_secret_id' is not null and not exists (
    select from vault.secret s
    where s.tenant_id = internal.require_tenant() and s.secret_id = (_changes ->> 'webhook_secret_id')::uuid)
  then
    raise exception using errcode = 'PS013', detail = 'webhook_secret_id',
      message = format('there is no secret %s', _changes ->> 'webhook_secret_id'), hint = 'Store it in the vault first.';
  end if;
  update accounts.tenant t set
    name = case when _changes ? 'name' then _changes ->> 'name' else t.name end,
    max_upload_bytes = case when _changes ? 'max_upload_bytes' then (_changes ->> 'max_upload_bytes')::bigint
      else t.max_upload_bytes end,
    requests_per_minute = case when _changes ? 'requests_per_minute' then (_changes ->> 'requests_per_minute')::integer
      else t.requests_per_minute end,
    monthly_token_budget = case when _changes ? 'monthly_token_budget' then (_changes ->> 'monthly_token_budget')::bigint
      else t.monthly_token_budget end,
    max_documents = case when _changes ? 'max_documents' then (_changes ->> 'max_documents')::bigint
      else t.max_documents end,
    max_stored_bytes = case when _changes ? 'max_stored_bytes' then (_changes ->> 'max_stored_bytes')::bigint
      else t.max_stored_bytes end,
    max_keys = case when _changes ? 'max_keys' then (_changes ->> 'max_keys')::bigint else t.max_keys end,
    webhook_url = case when _changes ? 'webhook_url' then _changes ->> 'webhook_url' else t.webhook_url end,
    webhook_secret_id = case when _changes ? 'webhook_secret_id' then (_changes ->> 'webhook_secret_id')::uuid
      else t.webhook_secret_id end,
    contact_email = case when _changes ? 'contact_email' then _changes ->> 'contact_email' else t.contact_email end
  where t.tenant_id = internal.require_tenant()
  returning * into v_tenant;
  return accounts.tenant_row(v_tenant);
end;
$$;
