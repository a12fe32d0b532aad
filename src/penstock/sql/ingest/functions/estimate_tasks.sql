-- What ingest.count_targets() says of an action on tasks, by an estimate of each state. Runs with its caller's rights. Raises PS005.
create or replace function ingest.estimate_tasks(_action text, _filter jsonb)
returns jsonb
language sql
as $$
  with estimated as (
    select e.total, ingest.why_skipped(_action, e.state) as reason
    from queues.estimate_tasks(_filter, coalesce(
      internal.tenant_id(), (select t.tenant_id from accounts.tenant t where t.slug = _filter ->> 'tenant'))) e
  ), by_reason as (
    select e.reason, sum(e.total) as total from estimated e where e.total > 0 group by e.reason
  )
  select jsonb_build_object(
    'count', coalesce(sum(b.total), 0),
    'approximate', true,
    'skipped', coalesce(jsonb_agg(jsonb_build_object('reason', b.reason, 'count', b.total) order by b.total desc)
      filter (where b.reason is not null), '[]'))
  from by_reason b;
$$;
