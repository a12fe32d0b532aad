-- Whether the tenant has live chunks of a model: then a search needs the model's collection. Raises PS012.
create or replace function search.uses_model(_model text)
returns boolean
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from ingest.document d
    join ingest.chunk c on c.document_id = d.document_id and c.generation = d.live_generation and c.ordinal = 0
    where d.tenant_id = internal.require_tenant() and d.live_generation > 0 and c.embedding_model = _model);
$$;
