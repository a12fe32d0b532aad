-- The embeddings of these texts that the tenant already has for this model. Notes their use at most once a day, so that most
-- lookups write nothing. Locks: the rows it notes, skipping those that are locked. Raises PS012.
create or replace function ingest.cached_embeddings(_model text, _sha256s bytea[])
returns table (text_sha256 bytea, embedding bytea)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
begin
  update ingest.embedding_cache e set used_at = internal.clock()
  where e.ctid = any (array(
    select c.ctid from ingest.embedding_cache c
    where c.tenant_id = v_tenant_id and c.model = _model and c.text_sha256 = any (_sha256s)
      and c.used_at < internal.clock() - interval '1 day'
    for update skip locked));
  return query
    select e.text_sha256, e.embedding from ingest.embedding_cache e
    where e.tenant_id = v_tenant_id and e.model = _model and e.text_sha256 = any (_sha256s);
end;
$$;
