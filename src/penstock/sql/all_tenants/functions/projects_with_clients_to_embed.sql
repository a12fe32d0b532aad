-- Some of the projects with clients that a person wrote and that have no embedding yet; syncs embed those of sources. In no order:
-- projects whose embedder is away for long do not keep the others from their turn.
create or replace function all_tenants.projects_with_clients_to_embed(_limit integer default 100)
returns table (tenant_id uuid, project_id uuid, embedder text)
language sql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.tenant_id, p.project_id, p.embedder
  from (
    select distinct c.project_id from ingest.client_intelligence c where c.source_id is null and c.embedding_model is null) w
  join accounts.project p on p.project_id = w.project_id
  join accounts.tenant t on t.tenant_id = p.tenant_id
  where p.embedder <> 'none' and t.status = 'active'
  order by random()
  limit _limit;
$$;
