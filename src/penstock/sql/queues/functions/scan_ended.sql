-- Attempts with one outcome, newest first, before the id `_before` (-1: from the newest on). History has no index by outcome:
-- it is read in windows of ids, at most `_scan` ids far; if that ends the search, a last row without a task says where.
-- The caller, scan_tasks(), turns bitmap scans and sorts off, and this needs both: before PostgreSQL 18 the price of what is
-- turned off hides the difference between reading a window and reading everything.
create or replace function queues.scan_ended(
  _outcome text, _sees_all boolean, _tenant_id uuid, _before bigint, _limit integer, _scan bigint
)
returns table (task_id bigint, attempt integer, at timestamptz, worker_id integer, place text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = on
set enable_sort = on
set plan_cache_mode = force_custom_plan
as $$
declare
  v_left integer := _limit;
  v_high bigint := case when _before < 0 then (select s.last_value + 1 from queues.lease_id_seq s) else _before end;
  v_low bigint;
  v_width bigint := 8000;
  v_count integer;
begin
  loop
    v_low := greatest(v_high - v_width, 0);
    return query
    select a.task_id, a.attempt_number::integer, a.closed_at, a.worker_id, a.attempt_id::text
    from queues.attempt a
    where a.attempt_id >= v_low and a.attempt_id < v_high and a.outcome = _outcome::queues.outcome
      and (_sees_all or (_tenant_id is null and a.tenant_id is null) or a.tenant_id = _tenant_id)
    order by a.attempt_id desc limit v_left;
    get diagnostics v_count = row_count;
    v_left := v_left - v_count;
    _scan := _scan - (v_high - v_low);
    exit when v_left <= 0 or v_low = 0;
    if _scan <= 0 then
      return query select null::bigint, null::integer, null::timestamptz, null::integer, v_low::text;
      return;
    end if;
    v_high := v_low;
    v_width := least(v_width * 2, 64000);
  end loop;
end;
$$;
