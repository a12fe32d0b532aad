-- How similar a query is to chunks of the tenant that have nothing to do with it: mean and deviation over a sample of its
-- vectors of a model. Hits well above that are relevant, whatever the model. Empty without pgvector. Raises PS012.
create or replace function search.background(_model text, _vector text, _sample integer default 400)
returns table (mean double precision, deviation double precision, sampled bigint)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if to_regclass('ingest.chunk_vector') is null then
    return;
  end if;
  return query execute format(
    'select avg(s.score), stddev_samp(s.score), count(*)
     from (
       select -(v.embedding operator(%1$s.<#>) $1::%1$s.halfvec) as score
       from ingest.chunk_vector v where v.tenant_id = $2 and v.model = $3 limit $4) s', ingest.require_vectors())
  using _vector, internal.require_tenant(), _model, _sample;
end;
$$;
