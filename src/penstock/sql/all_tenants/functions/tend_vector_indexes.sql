-- Builds an HNSW index for a tenant and model with more than _threshold vectors, drops it below half of that, and returns how
-- many indexes it built or dropped. At most one build per call, because a build takes long. A tenant is checked after each
-- count (all_tenants.refresh_statistics), not in each call. Locks: those of the build.
create or replace function all_tenants.tend_vector_indexes(_threshold integer)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant record;
  v_models jsonb;
  v_model record;
  v_built integer := 0;
  v_dropped integer := 0;
  v_is_tended boolean;
begin
  perform ingest.create_vector_tables();
  if to_regclass('ingest.chunk_vector') is null or not pg_try_advisory_xact_lock(hashtextextended('tend vectors', 0)) then
    return 0;
  end if;
  for v_tenant in
    select s.tenant_id from ingest.text_statistics s
    where (s.tended_at is null or s.tended_at < s.counted_at or s.tended_threshold is distinct from _threshold)
      and (s.chunk_count > _threshold
        or exists (select from ingest.vector_index i where i.tenant_id = s.tenant_id))
    order by s.chunk_count desc
  loop
    v_is_tended := true;
    begin
      -- Read to the end first: a table with an open scan takes no new index.
      execute format(
        'select jsonb_agg(jsonb_build_object(''model'', coalesce(c.model, i.model), ''count'', coalesce(c.count, 0),
           ''dimensions'', c.dimensions, ''indexed'', i.model is not null))
         from (
           select v.model, count(*) as count, min(%1$s.vector_dims(v.embedding)) as dimensions
           from ingest.chunk_vector v where v.tenant_id = $1 group by v.model) c
         full join (select * from ingest.vector_index where tenant_id = $1) i on i.model = c.model', ingest.vector_schema())
      into v_models
      using v_tenant.tenant_id;
      for v_model in
        select m.* from jsonb_to_recordset(v_models) as m (model text, count bigint, dimensions integer, indexed boolean)
      loop
        if v_model.count > _threshold and not v_model.indexed then
          if v_built > 0 then
            v_is_tended := false;
            continue;
          end if;
          perform ingest.build_vector_index(v_tenant.tenant_id, v_model.model, v_model.dimensions);
          insert into ingest.vector_index (tenant_id, model, dimensions, built_at)
          values (v_tenant.tenant_id, v_model.model, v_model.dimensions, internal.clock());
          v_built := v_built + 1;
        elsif v_model.indexed and v_model.count < _threshold / 2 then
          perform ingest.drop_vector_index(v_tenant.tenant_id, v_model.model);
          delete from ingest.vector_index i where i.tenant_id = v_tenant.tenant_id and i.model = v_model.model;
          v_dropped := v_dropped + 1;
        end if;
      end loop;
      update ingest.text_statistics s set tended_at = internal.clock(), tended_threshold = _threshold
      where s.tenant_id = v_tenant.tenant_id and v_is_tended;
    exception
      when lock_not_available then
        continue; -- a writer holds a lock: the next call tries this tenant again
    end;
    exit when v_built > 0;
  end loop;
  return v_built + v_dropped;
end;
$$;
