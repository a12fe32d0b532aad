-- Which parser and which model each attempt of a document's task used, as its timeline has it. A tenant sees its own. Raises
-- PS012.
create or replace function all_tenants.run_versions(_document_id uuid, _task_id bigint)
returns table (attempt integer, parser text, model text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.scope();
begin
  return query
  select (s.detail ->> 'attempt')::integer, n.detail ->> 'parser', n.detail ->> 'embedder'
  from ingest.document_event s
  cross join lateral (
    select o.event, o.detail from ingest.document_event o
    where o.document_id = s.document_id and o.event_id > s.event_id and o.event in ('started', 'chunked')
    order by o.event_id limit 1
  ) n
  where s.document_id = _document_id and (v_tenant_id is null or s.tenant_id = v_tenant_id)
    and s.event = 'started' and s.detail ->> 'task_id' = _task_id::text and n.event = 'chunked'
  order by s.event_id;
end;
$$;
