-- Has Postgres sample tables again: its statistics keep values it saw, including those of deleted rows. A table that is empty
-- now would keep the old ones, so they are cleared first where the server can do that (18 or newer). Runs with the rights of
-- its caller, who owns the tables. Locks: the tables, one after the other, against vacuum and other samples.
create or replace function internal.sample_anew(_tables regclass[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_table regclass;
begin
  foreach v_table in array _tables loop
    if to_regproc('pg_catalog.pg_clear_attribute_stats') is not null then
      perform pg_catalog.pg_clear_attribute_stats(n.nspname, c.relname, a.attname, i.inherited)
      from (select v_table as relid union select p.relid from pg_catalog.pg_partition_tree(v_table) p) t
      join pg_catalog.pg_class c on c.oid = t.relid
      join pg_catalog.pg_namespace n on n.oid = c.relnamespace
      join pg_catalog.pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
      -- A partitioned table has statistics over all its partitions, and no others.
      join (values (true), (false)) i (inherited) on i.inherited = (c.relkind = 'p');
    end if;
    execute format('analyze %s', v_table);
  end loop;
end;
$$;
