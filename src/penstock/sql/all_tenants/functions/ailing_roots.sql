-- What is wrong with processes of every tenant, for operators and doctor: those that failed recently, those the sweep had to
-- wake again and again, and those whose supervisor is overdue and not enqueued; and how many are open in all. One row per
-- process and finding, with the newest root as an example. Looks at the newest 10,000 failures of a process and the 1,000
-- most overdue roots; those of deleted accounts cannot be helped and are omitted.
create or replace function all_tenants.ailing_roots(
  _failed_within interval default '1 day',
  _sweeps integer default 3,
  _overdue interval default '2 minutes'
)
returns table (finding text, process text, roots bigint, root_id bigint)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process internal.process;
  v_name text;
  v_root internal.open_root;
  v_unattended jsonb := '{}';
  v_outside text := current_setting('penstock.tenant_id', true);
begin
  for v_process in select * from internal.process p order by p.process loop
    v_name := split_part(v_process.process, '.', 2);
    return query execute format(
      'select ''failed'', $1, count(distinct a.%6$I), max(a.%6$I)
       from (select f.%5$I, f.created_at from %1$I.%4$I f order by f.%5$I desc limit 10000) f
       join %1$I.%2$I a using (%5$I)
       where f.created_at > internal.clock() - $2
         and not exists (select from internal.open_root o where o.process = $1 and o.root_id = a.%6$I)
         and not exists (select from %1$I.%2$I b join %1$I.%3$I s using (%5$I) where b.%6$I = a.%6$I)
         and not exists (
           select from accounts.account_flag g where g.tenant_id = a.tenant_id and g.flag = ''anonymized'')
       having count(*) > 0',
      split_part(v_process.process, '.', 1), v_name || '_attempt', v_name || '_attempt_succeeded',
      v_name || '_attempt_failed', v_name || '_attempt_id', v_name || '_task_id')
    using v_process.process, _failed_within;
  end loop;
  for v_root in
    select * from internal.open_root o
    where o.next_check_at < internal.clock() - _overdue
    order by o.next_check_at limit 1000
  loop
    perform set_config('penstock.tenant_id', v_root.tenant_id::text, true);
    if coalesce(queues.task_state(v_root.task_id), 'gone') not in ('ready', 'waiting', 'parked', 'running') then
      v_unattended := jsonb_set(v_unattended, array[v_root.process],
        coalesce(v_unattended -> v_root.process, '[]') || to_jsonb(v_root.root_id));
    end if;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_outside, ''), true);
  return query
  select 'unattended', e.key, count(*), max(i.id::bigint)
  from jsonb_each(v_unattended) e cross join lateral jsonb_array_elements_text(e.value) i (id)
  group by e.key;
  return query
  select 'swept', o.process, count(*), max(o.root_id)
  from internal.open_root o where o.swept > _sweeps group by o.process;
  return query
  select 'open', o.process, count(*), max(o.root_id) from internal.open_root o group by o.process;
end;
$$;
