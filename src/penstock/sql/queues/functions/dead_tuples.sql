-- Dead tuples of the hot tables, as the statistics collector knows them.
create or replace function queues.dead_tuples()
returns table (table_name text, live bigint, dead bigint)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select s.relname::text, s.n_live_tup, s.n_dead_tup
  from pg_stat_user_tables s
  where s.schemaname = 'queues' and s.relname in ('ready', 'lease', 'waiting', 'parked', 'held', 'freed', 'idle', 'worker')
  order by s.relname;
$$;
