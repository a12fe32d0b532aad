-- Writes the samples of the minutes that ended, for the history of stages, from the documents' timelines: what left a stage in
-- each minute, what failed in it, and how long it took. The last three minutes are counted again, because an event may
-- commit after its minute has ended; anything older than an hour that nobody sampled stays a gap. Repeating it changes
-- nothing. Returns how many rows it wrote, null while another caller does it. Locks: an advisory try-lock; the rows it writes.
create or replace function all_tenants.take_stage_samples(_keep interval default interval '8 days')
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_end timestamptz := date_trunc('minute', internal.clock());
  v_from timestamptz;
  v_count integer;
begin
  if not pg_try_advisory_xact_lock(7306573, 4) then
    return null;
  end if;
  v_from := greatest(
    v_end - interval '60 minutes',
    least(v_end - interval '3 minutes', coalesce((select max(s.minute) from ingest.stage_sample s), v_end - interval '60 minutes')));
  insert into ingest.stage_sample as s (tenant_id, stage, minute, done, failed, took)
  select b.tenant_id, b.stage, b.minute, sum(b.done), sum(b.failed),
    internal.histogram(jsonb_object_agg(b.bucket, b.done) filter (where b.bucket is not null and b.done > 0))
  from (
    select e.tenant_id, f.stage, date_trunc('minute', e.at) as minute, count(*) filter (where f.done) as done,
      count(*) filter (where not f.done) as failed,
      case when f.done then internal.bucket(extract(epoch from e.at - p.at)::double precision) end as bucket
    from ingest.document_event e
    cross join lateral (
      values
        ('received', case when e.to_status = 'processing' then true end),
        -- Back to pending is neither: it is tried again.
        ('parsing', case when e.from_status = 'processing' and e.to_status <> 'pending' then e.to_status <> 'failed' end),
        ('embedding', case when e.from_status = 'embedding' and e.to_status <> 'pending' then e.to_status = 'indexed' end),
        ('indexed', case when e.to_status in ('indexed', 'failed') then e.to_status = 'indexed' end)
    ) as f (stage, done)
    left join lateral (
      -- The move before this one; for the whole way, when it last began to wait.
      select o.at from ingest.document_event o
      where o.document_id = e.document_id and o.event_id < e.event_id
        and case when f.stage = 'indexed' then o.to_status = 'pending' else o.to_status is not null end
      order by o.event_id desc limit 1
    ) p on true
    where e.at >= v_from and e.at < v_end and e.to_status is distinct from 'deleted'
      and e.event <> 'overtaken' and f.done is not null
    group by 1, 2, 3, f.done, 6
  ) b
  group by 1, 2, 3
  on conflict (tenant_id, stage, minute) do update set
    done = excluded.done, failed = excluded.failed, took = excluded.took
  where (s.done, s.failed) is distinct from (excluded.done, excluded.failed);
  get diagnostics v_count = row_count;
  delete from ingest.stage_sample s where s.minute < v_end - _keep;
  return v_count;
end;
$$;
