-- The documents of a tenant, or of all of them for an operator: how many are in each status (counted up to 100,000), which one
-- has waited longest, which sources need a person, and what embedding cost in this month. Raises PS012.
create or replace function all_tenants.document_figures()
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant_id uuid := internal.scope();
  v_now timestamptz := internal.clock();
  v_month date := date_trunc('month', internal.clock() at time zone 'UTC')::date;
  v_counts jsonb;
  v_oldest jsonb;
begin
  select jsonb_object_agg(n.status, n.documents) into v_counts
  from (
    select s.status, (
      select count(*) from (
        select from ingest.document d
        where d.status = s.status and (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.deleted_at is null
        limit 100001
      ) d) as documents
    from unnest(enum_range(null::ingest.document_status)) as s (status)
    where s.status <> 'deleted'
  ) n;
  if v_tenant_id is null then
    select jsonb_build_object('document_id', d.document_id, 'name', coalesce(d.title, d.filename, d.external_id),
      'seconds', extract(epoch from v_now - d.updated_at)) into v_oldest
    from ingest.document d
    where d.status = 'pending' and d.status in ('pending', 'processing', 'embedding') and d.deleted_at is null
    order by d.updated_at limit 1;
  else
    select jsonb_build_object('document_id', d.document_id, 'name', coalesce(d.title, d.filename, d.external_id),
      'seconds', extract(epoch from v_now - d.updated_at)) into v_oldest
    from ingest.document d
    where d.status = 'pending' and d.tenant_id = v_tenant_id and d.deleted_at is null
    order by d.updated_at limit 1;
  end if;
  return jsonb_build_object(
    'at', v_now,
    'documents', v_counts || jsonb_build_object('approximate', exists (
      select from jsonb_each_text(v_counts) c where c.value::bigint > 100000)),
    'oldest_waiting', v_oldest,
    'sources_needing', coalesce((
      select jsonb_agg(jsonb_build_object('source_id', s.source_id, 'kind', s.kind, 'name', s.name,
        'sentence', coalesce(s.status_message, 'It needs a person: ' || s.status), 'action', ingest.reconnect_action(s))
        order by s.updated_at)
      from (
        select * from ingest.source o
        where (v_tenant_id is null or o.tenant_id = v_tenant_id) and o.removed_at is null
          and o.status in ('error', 'token_refresh_failed', 'subscription_expired', 'provider_error')
        order by o.updated_at limit 100
      ) s), '[]'),
    'usage', (
      select jsonb_build_object('month', to_char(v_month, 'YYYY-MM'), 'tokens', coalesce(sum(u.tokens), 0),
        'calls', coalesce(sum(u.calls), 0), 'texts', coalesce(sum(u.texts), 0), 'reused', coalesce(sum(u.reused), 0))
      from accounts.usage u
      where (v_tenant_id is null or u.tenant_id = v_tenant_id) and u.day >= v_month));
end;
$$;
