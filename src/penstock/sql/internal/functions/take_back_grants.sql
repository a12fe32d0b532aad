-- Revokes every grant on the functions of a schema, so that the grants that follow are the only ones; also from the other
-- owners, which call some of each other's functions. Runs with the rights of the login that migrates.
create or replace function internal.take_back_grants(_schema text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_owners text;
begin
  select string_agg(quote_ident(o.rolname), ', ') into v_owners
  from pg_roles o
  join pg_namespace n on n.nspname = _schema and n.nspowner <> o.oid
  where o.rolname in ('penstock_owner', 'penstock_queue', 'penstock_all_tenants');
  execute format(
    'revoke all on all functions in schema %I
       from public, penstock_api, worker_service_user, service_role, penstock_reader, %s', _schema, v_owners);
end;
$$;
