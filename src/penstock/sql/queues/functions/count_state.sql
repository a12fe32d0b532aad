-- How many tasks of a queue (null: of all) are in a state that has not ended, counted up to 10,001 without reading further: of
-- all tenants, or of one (null: tasks without a tenant).
create or replace function queues.count_state(_state text, _queue_id smallint, _sees_all boolean, _tenant_id uuid)
returns bigint
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set plan_cache_mode = force_custom_plan
as $$
begin
  if _state = 'ready' and _sees_all then
    return (select count(*) from (
      select from queues.ready r
      where r.lane >= coalesce(internal.first_lane(_queue_id), 0)
        and r.lane < coalesce(internal.first_lane(_queue_id + 1), 9223372036854775807) limit 10001) c);
  elsif _state = 'ready' then
    return (select count(*) from (
      select from queues.ready r
      where r.lane = any (array(select l.lane from queues.tenant_lanes(_tenant_id, _queue_id) l)) limit 10001) c);
  elsif _state = 'running' then
    return (select count(*) from (
      select from queues.lease l
      where (_queue_id is null or internal.lane_queue(l.lane) = _queue_id)
        and (_sees_all or (_tenant_id is null and l.tenant_id is null) or l.tenant_id = _tenant_id) limit 10001) c);
  elsif _state = 'waiting' then
    return (select count(*) from (
      select from queues.waiting w
      where (_queue_id is null or w.queue_id = _queue_id) and w.task_id is not null
        and (_sees_all or (_tenant_id is null and w.tenant_id is null) or w.tenant_id = _tenant_id) limit 10001) c);
  elsif _state = 'parked' then
    return (select count(*) from (
      select from queues.parked p
      where (_queue_id is null or p.queue_id = _queue_id)
        and (_sees_all or (_tenant_id is null and p.tenant_id is null) or p.tenant_id = _tenant_id) limit 10001) c);
  end if;
  return (select count(*) from (
    select from queues.dead_letter d
    where (_queue_id is null or d.queue_id = _queue_id)
      and (_sees_all or (_tenant_id is null and d.tenant_id is null) or d.tenant_id = _tenant_id) limit 10001) c);
end;
$$;
