-- A re-index as callers see it: progress, rate, and the estimated end. Seconds per document come from the newest shards, those in
-- work included; what is left times their mean over the shards in work is the estimate, and two standard errors of that
-- prediction are its range. Runs with its caller's rights.
create or replace function ingest.bulk_row(_run ingest.bulk_run)
returns jsonb
language sql
stable
as $$
  with closed as (
    select count(*) as shards, coalesce(sum(s.documents), 0) as documents,
      count(*) filter (where s.closed_at is not null) as closed_shards,
      count(*) filter (where s.closed_at is null and s.lease_until > internal.clock()) as held,
      coalesce(sum(s.indexed), 0) as indexed, coalesce(sum(s.newer), 0) as newer, coalesce(sum(s.gone), 0) as gone,
      coalesce(sum(s.failed), 0) as failed, coalesce(sum(s.chunks), 0) as chunks, coalesce(sum(s.embedded), 0) as embedded,
      coalesce(sum(s.reused), 0) as reused, coalesce(sum(s.embedded_tokens), 0) as embedded_tokens
    from ingest.bulk_shard s where s.run_id = _run.run_id
  ), open as (
    select b.shard, count(*) as documents, count(*) filter (where b.outcome = 'failed') as failed,
      coalesce(sum((b.facts #>> '{counts,chunks}')::bigint), 0) as chunks,
      coalesce(sum((b.facts #>> '{counts,embedded}')::bigint), 0) as embedded,
      coalesce(sum((b.facts #>> '{counts,reused}')::bigint), 0) as reused,
      coalesce(sum((b.facts #>> '{counts,embedded_tokens}')::bigint), 0) as embedded_tokens
    from ingest.bulk_document b
    join ingest.bulk_shard s on s.run_id = b.run_id and s.shard = b.shard and s.closed_at is null
    where b.run_id = _run.run_id and b.outcome <> 'begun'
    group by b.shard
  ), in_work as (
    select coalesce(sum(o.documents), 0) as documents, coalesce(sum(o.failed), 0) as failed, coalesce(sum(o.chunks), 0) as chunks,
      coalesce(sum(o.embedded), 0) as embedded, coalesce(sum(o.reused), 0) as reused,
      coalesce(sum(o.embedded_tokens), 0) as embedded_tokens
    from open o
  ), paced as (
    select extract(epoch from coalesce(s.closed_at, internal.clock()) - s.claimed_at)
        / coalesce(case when s.closed_at is null then o.documents end, s.documents)::float8 as seconds
    from ingest.bulk_shard s
    left join open o on o.shard = s.shard
    where s.run_id = _run.run_id and s.claimed_at is not null
      and case when s.closed_at is null then s.lease_until > internal.clock() and o.documents > 0 else s.documents > 0 end
    order by s.claimed_at desc limit 50
  ), pace as (
    select count(*) as samples, avg(p.seconds) as mean, coalesce(stddev_samp(p.seconds), avg(p.seconds) / 2) as deviation from paced p
  ), rest as (
    select greatest(0, c.documents - c.indexed - c.newer - c.gone - c.failed - w.documents) as documents,
      case when _run.finished_at is null and c.held > 0 then p.mean / c.held end as mean,
      p.deviation / greatest(c.held, 1) * sqrt(1.0 / greatest(p.samples, 1) + 1.0 / greatest(c.shards - c.closed_shards, 1)) as error
    from closed c, in_work w, pace p
  )
  select jsonb_build_object(
    'run_id', _run.run_id,
    'tenant', (select t.slug from accounts.tenant t where t.tenant_id = _run.tenant_id),
    'project', (select p.slug from accounts.project p where p.project_id = _run.project_id),
    'embedder', _run.embedder,
    'switches', _run.switches,
    'gate', (
      select ingest.evaluation_row(e) from ingest.gate_evaluation e
      where e.run_id = _run.run_id order by e.evaluation_id desc limit 1),
    'engine', _run.engine,
    'state', _run.state,
    'pass', _run.pass,
    'reason', _run.reason,
    'waits_until', _run.waits_until,
    'shards', c.shards,
    'closed_shards', c.closed_shards,
    'held_shards', c.held,
    'documents', c.documents,
    'done', c.indexed + c.newer + c.gone + c.failed + w.documents,
    'indexed', c.indexed,
    'newer', c.newer,
    'gone', c.gone,
    'failed', c.failed + w.failed,
    'chunks', c.chunks + w.chunks,
    'embedded', c.embedded + w.embedded,
    'reused', c.reused + w.reused,
    'embedded_tokens', c.embedded_tokens + w.embedded_tokens,
    'documents_per_second', 1 / nullif(r.mean, 0),
    'eta_seconds', r.documents * r.mean,
    'eta_low', r.documents * greatest(r.mean / 2, r.mean - 2 * r.error),
    'eta_high', r.documents * (r.mean + 2 * r.error),
    'by', _run.started_by,
    'started_at', _run.started_at,
    'finished_at', _run.finished_at,
    'task_id', _run.task_id)
  from closed c, in_work w, rest r;
$$;
