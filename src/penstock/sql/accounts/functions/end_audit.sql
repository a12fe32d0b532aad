-- Completes a row of the tenant's audit with how the request ended; a row that is gone or complete stays so. Raises PS012.
create or replace function accounts.end_audit(_audit_id uuid, _status integer, _detail jsonb)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update accounts.audit_entry a set status = _status, detail = a.detail || _detail
  where a.tenant_id = internal.require_tenant() and a.audit_id = _audit_id and a.status is null;
end;
$$;
