-- How far the partitions of task, attempt and error are ahead of the next id; a null child means that no partition fits.
create or replace function queues.partitions()
returns table (table_name text, current_child text, ahead bigint, used double precision)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    i.parent,
    p.child,
    (select count(*) from queues.partition n where n.parent = i.parent and n.from_id > i.last_id),
    (i.last_id - p.from_id)::double precision / (p.to_id - p.from_id)
  from (
    select 'task' as parent, s.last_value as last_id from queues.task_id_seq s
    union all select 'attempt', s.last_value from queues.lease_id_seq s
    union all select 'error', s.last_value from queues.error_id_seq s
  ) i
  left join queues.partition p on p.parent = i.parent and p.from_id <= i.last_id and p.to_id > i.last_id
  order by i.parent;
$$;
