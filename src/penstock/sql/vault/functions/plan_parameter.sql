-- Notes that a parameter is about to be written for a new secret of one of the tenant's sources, and returns the secret's id and
-- the parameter's name. Commit it before writing the parameter: one whose secret is not there an hour later is deleted. Id and
-- name are made here, so that no tenant can name another's. Locks: the tenant's row for key share. Raises PS012, PS013, PS017.
create or replace function vault.plan_parameter(
  _prefix text,
  _source_id uuid,
  _purpose text,
  out secret_id uuid,
  out parameter_name text
)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
begin
  -- The transaction that creates the source may not be committed yet; vault.put_secret() checks that it is there.
  if all_tenants.source_tenant(_source_id) <> v_tenant_id then
    raise exception using errcode = 'PS013', detail = 'source_id',
      message = format('there is no source %s', _source_id),
      hint = 'List the sources of this tenant: penstock source list';
  end if;
  secret_id := internal.uuid7();
  parameter_name := concat_ws('/', _prefix, v_tenant_id, _source_id, _purpose, secret_id);
  insert into vault.parameter (secret_id, tenant_id, parameter_name, origin, created_at)
  values (plan_parameter.secret_id, v_tenant_id, plan_parameter.parameter_name, files.store_origin(), internal.clock());
end;
$$;
