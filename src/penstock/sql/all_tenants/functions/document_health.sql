-- What an operator should know about documents of every tenant: how many failed and why, how many wait for an embedder or are
-- indexed with a fallback, which embedders are unavailable since when, what waits at a gate, and which re-indexes on another engine
-- have had no driver and nobody at work on a shard for ten minutes. Those on the workers have a task, which
-- all_tenants.settle_bulk() looks after.
create or replace function all_tenants.document_health()
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'failed', coalesce((
      select jsonb_object_agg(f.reason, f.documents) from (
        select coalesce(d.reason_code, 'unknown') as reason, count(*) as documents
        from ingest.document d where d.status = 'failed' and d.deleted_at is null group by 1
      ) f), '{}'),
    'waiting', (
      select count(*) from ingest.document d
      where d.status = 'pending' and d.deleted_at is null and d.reason_code = 'embedder_unavailable'),
    'fallback', (
      select count(*) from ingest.document d where d.fallback_embedder is not null and d.deleted_at is null),
    'outages', coalesce((
      select jsonb_agg(to_jsonb(o) order by o.embedder) from ingest.outages() o), '[]'),
    'gates', coalesce((
      select jsonb_agg(jsonb_build_object('tenant', t.slug, 'project', p.slug, 'says', g.row ->> 'says') order by t.slug, p.slug)
      from ingest.gate x
      join accounts.project p on p.project_id = x.project_id
      join accounts.tenant t on t.tenant_id = x.tenant_id
      cross join lateral (select ingest.gate_row(x.project_id)) as g (row)
      where g.row ->> 'waiting' is not null and g.row #>> '{evaluation,state}' = 'failed'), '[]'),
    'undriven', coalesce((
      select jsonb_agg(jsonb_build_object('tenant', t.slug, 'project', p.slug, 'run_id', u.run_id, 'since', u.since) order by u.since)
      from (
        select r.run_id, r.project_id, greatest(r.updated_at, (
          select max(greatest(s.claimed_at, s.lease_until, s.closed_at)) from ingest.bulk_shard s where s.run_id = r.run_id)) as since
        from ingest.bulk_run r where r.finished_at is null and r.task_id is null
      ) u
      join accounts.project p on p.project_id = u.project_id
      join accounts.tenant t on t.tenant_id = p.tenant_id
      where u.since < internal.clock() - interval '10 minutes'), '[]'));
$$;
