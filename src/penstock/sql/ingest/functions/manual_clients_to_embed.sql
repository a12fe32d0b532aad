-- Client rows of a project that a person wrote and that have no embedding, by id, after _after. Raises PS012.
create or replace function ingest.manual_clients_to_embed(_project_id uuid, _after uuid default null, _limit integer default 500)
returns table (client_id uuid, text text, text_sha256 bytea)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select c.client_id, t.text, sha256(convert_to(t.text, 'utf8'))
  from ingest.client_intelligence c
  cross join lateral (
    select ingest.client_embedding_text(c.client_name, c.industry, c.summary, c.key_facts) as text offset 0) t
  where c.tenant_id = internal.require_tenant() and c.project_id = _project_id and c.source_id is null
    and c.embedding_model is null and (_after is null or c.client_id > _after)
  order by c.client_id
  limit _limit;
$$;
