-- The transaction's tenant, if it still accepts documents, and one of this size. Locks: the tenant's row, for key share, as the
-- next insert would; a deletion of the account waits for that, or is noticed here. Raises PS012, PS015, PS017.
create or replace function ingest.open_tenant(_size_bytes bigint default 0)
returns accounts.tenant
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant;
begin
  select * into v_tenant from accounts.tenant t where t.tenant_id = internal.require_tenant()
  for key share;
  if v_tenant.tenant_id is null or v_tenant.status <> 'active' then
    raise exception using errcode = 'PS017', detail = 'tenant',
      message = 'this tenant accepts no documents: it was deleted, or does not exist',
      hint = 'Use another tenant.';
  end if;
  if _size_bytes > v_tenant.max_upload_bytes then
    raise exception using errcode = 'PS015', detail = 'file',
      message = format('%s bytes exceed this tenant''s limit of %s', _size_bytes, v_tenant.max_upload_bytes),
      hint = 'Send a smaller file, or raise the tenant''s max_upload_bytes.';
  end if;
  return v_tenant;
end;
$$;
