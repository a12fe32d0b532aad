-- Notes what an operator is about to do to the installation, or what was refused with this status; what is done to a tenant
-- goes to that tenant's audit. For operators.
create or replace function all_tenants.begin_audit(
  _audit_id uuid,
  _who text,
  _role text,
  _via text,
  _action text,
  _target text,
  _status integer,
  _detail jsonb,
  _request_id text
)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into internal.operator_audit (audit_id, at, who, role, via, action, target, status, detail, request_id)
  values (
    _audit_id, internal.clock(), _who, _role::accounts.role, _via::accounts.credential, _action, _target, _status, _detail,
    _request_id);
$$;
