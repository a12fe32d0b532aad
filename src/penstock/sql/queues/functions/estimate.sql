-- About how many tasks are in a state, for a count that would take too long: the newest sample if it is fresh, otherwise what
-- Postgres knows of the table. Never less than 10,001.
create or replace function queues.estimate(_state text, _queue_id smallint, _tenant_id uuid)
returns bigint
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_sampled bigint;
begin
  select sum(case _state when 'ready' then s.ready when 'running' then s.running when 'waiting' then s.waiting
    when 'dead' then s.dead end)::bigint
  into v_sampled
  from queues.queue q
  cross join lateral (
    select o.* from queues.sample o
    where ((_tenant_id is null and o.tenant_id is null) or o.tenant_id = _tenant_id) and o.queue_id = q.queue_id
      and o.minute > internal.clock() - interval '1 hour' and o.ready is not null
    order by o.minute desc limit 1
  ) s
  where _queue_id is null or q.queue_id = _queue_id;
  return greatest(10001, coalesce(v_sampled, case when _tenant_id is null and _queue_id is null then pg_stat_get_live_tuples(to_regclass('queues.' ||
    case _state when 'running' then 'lease' when 'dead' then 'dead_letter' else _state end)) end, 0));
end;
$$;
