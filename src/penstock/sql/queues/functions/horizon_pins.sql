-- What keeps vacuum from removing dead rows of this database: sessions, prepared transactions, replication slots and
-- standbys, oldest first. Sessions of other databases do not matter here and are not shown.
create or replace function queues.horizon_pins()
returns table (kind text, who text, pid integer, age_xids bigint, since timestamptz, doing text)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select 'session', coalesce(a.usename, '') || ' ' || coalesce(a.application_name, ''), a.pid,
    age(coalesce(a.backend_xmin, a.backend_xid))::bigint, a.xact_start, a.state || ': ' || left(a.query, 80)
  from pg_stat_activity a
  where (a.backend_xmin is not null or a.backend_xid is not null) and a.pid <> pg_backend_pid()
    and (a.datname = current_database() or a.backend_type = 'walsender' and a.datname is null)
    and a.xact_start < clock_timestamp() - interval '1 second'
  union all
  select 'replication slot', s.slot_name, s.active_pid, age(coalesce(s.xmin, s.catalog_xmin))::bigint, null, s.slot_type
  from pg_replication_slots s
  where coalesce(s.xmin, s.catalog_xmin) is not null and coalesce(s.database, current_database()) = current_database()
  union all
  select 'prepared transaction', p.gid, null, age(p.transaction)::bigint, p.prepared, p.owner::text
  from pg_prepared_xacts p
  where p.database = current_database()
  order by 4 desc;
$$;
