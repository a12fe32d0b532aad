-- Deletes up to _limit items or documents of a disconnected source, each like ingest.delete_document(), and at the end what else is
-- known of it: cursors, decisions and facts about clients. Returns how many it was; 0 when nothing is left. A source that is still
-- connected has 0. Locks: the source's facts, its documents. Raises PS012.
create or replace function ingest.delete_source_batch(_source_id uuid, _limit integer default 200)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_external_ids text[];
  v_document_id uuid;
  v_count integer := 0;
begin
  if not exists (
    select from ingest.source s
    where s.tenant_id = v_tenant_id and s.source_id = _source_id and s.removed_at is not null)
  then
    return 0;
  end if;
  select array_agg(i.external_id) into v_external_ids
  from (
    select d.external_id from ingest.source_document d
    where d.tenant_id = v_tenant_id and d.source_id = _source_id
    limit _limit) i;
  if v_external_ids is not null then
    perform ingest.drop_facts(_source_id, v_external_ids);
    delete from ingest.source_document d
    where d.tenant_id = v_tenant_id and d.source_id = _source_id and d.external_id = any (v_external_ids);
    get diagnostics v_count = row_count;
  end if;
  for v_document_id in
    select d.document_id from ingest.document d
    where d.tenant_id = v_tenant_id and d.source_id = _source_id and d.deleted_at is null
    order by d.document_id limit _limit
  loop
    -- An attachment may already have been deleted with its document.
    if exists (select from ingest.document d where d.document_id = v_document_id and d.deleted_at is null) then
      v_count := v_count + ingest.delete_document(v_document_id);
    end if;
  end loop;
  if v_count = 0 then
    delete from ingest.decision d where d.tenant_id = v_tenant_id and d.source_id = _source_id;
    delete from ingest.source_stream s where s.tenant_id = v_tenant_id and s.source_id = _source_id;
    delete from ingest.client_fact f where f.tenant_id = v_tenant_id and f.source_id = _source_id;
    delete from ingest.client_intelligence c where c.tenant_id = v_tenant_id and c.source_id = _source_id;
  end if;
  return v_count;
end;
$$;
