-- Row security, forced, on every table of a tenant, found by its tenant_id: one policy lets a transaction see and
-- write its own tenant's rows, one lets penstock_all_tenants see all rows. A new table needs only the column.
do $policies$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid::regclass
    from pg_catalog.pg_class as c
    join pg_catalog.pg_namespace as n on n.oid = c.relnamespace
    join pg_catalog.pg_attribute as a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    join pg_catalog.pg_roles as r on r.oid = n.nspowner and r.rolname = 'penstock_owner'
    where c.relkind in ('r', 'p')
  loop
    execute format('alter table %s enable row level security', v_table);
    execute format('alter table %s force row level security', v_table);
    execute format('drop policy if exists own_tenant on %s', v_table);
    execute format('drop policy if exists sees_all_tenants on %s', v_table);
    execute format(
      'create policy own_tenant on %s for all to public
         using (tenant_id = (select internal.tenant_id())) with check (tenant_id = (select internal.tenant_id()))', v_table);
    execute format('create policy sees_all_tenants on %s for all to penstock_all_tenants using (true) with check (true)', v_table);
    execute format('grant select, insert, update, delete on %s to penstock_all_tenants', v_table);
  end loop;
end
$policies$;
