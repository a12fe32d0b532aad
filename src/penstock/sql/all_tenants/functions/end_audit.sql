-- Completes a row of the installation's audit with how the request ended; a complete row stays so. For operators.
create or replace function all_tenants.end_audit(_audit_id uuid, _status integer, _detail jsonb)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  update internal.operator_audit a set status = _status, detail = a.detail || _detail
  where a.audit_id = _audit_id and a.status is null;
$$;
