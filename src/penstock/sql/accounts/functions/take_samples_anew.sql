-- Has Postgres sample every table of tenants anew: its statistics keep values it saw, also of rows that are gone. Runs
-- with its caller's rights, over the tables its caller owns. Locks: the tables against vacuum and other samples, by name.
create or replace function accounts.take_samples_anew()
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass;
begin
  for v_table in
    select c.oid
    from pg_catalog.pg_class c
    join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relkind in ('r', 'p') and not c.relispartition and c.relowner = current_user::regrole
    order by c.oid::regclass::text
  loop
    execute format('analyze %s', v_table);
  end loop;
end;
$$;
