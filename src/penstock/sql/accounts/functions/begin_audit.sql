-- Notes in the tenant's audit what somebody is about to do, or what was refused with this status. Raises PS012.
create or replace function accounts.begin_audit(
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
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into accounts.audit_entry (
    audit_id, tenant_id, at, who, role, via, action, target, status, detail, request_id)
  values (
    _audit_id, internal.require_tenant(), internal.clock(), _who, _role::accounts.role, _via::accounts.credential,
    _action, _target, _status, _detail, _request_id);
end;
$$;
