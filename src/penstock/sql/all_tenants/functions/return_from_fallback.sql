-- Sends documents that were indexed with a fallback through again, of every tenant, once their project's own embedder is
-- available: searches find the fallback's version until the new one replaces it. At most _limit are in progress at a time.
-- Returns how many it sent. Locks: documents' rows, skipping those that are locked.
create or replace function all_tenants.return_from_fallback(_limit integer default 100)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document record;
  v_count integer := 0;
  v_tenant text := current_setting('penstock.tenant_id', true);
  v_room integer;
begin
  select _limit - count(*) into v_room from ingest.document d
  where d.fallback_embedder is not null and d.deleted_at is null and d.status in ('pending', 'processing', 'embedding');
  if v_room <= 0 then
    return 0;
  end if;
  for v_document in
    select d.document_id, d.tenant_id, d.fallback_embedder, p.embedder
    from ingest.document d
    join accounts.project p on p.project_id = d.project_id
    where d.fallback_embedder is not null and d.deleted_at is null and d.status = 'indexed'
      and not ingest.is_unavailable(p.embedder)
    order by d.document_id
    limit v_room
    for update of d skip locked
  loop
    perform set_config('penstock.tenant_id', v_document.tenant_id::text, true);
    perform ingest.move_document(v_document.document_id, 'pending', 'reembed', null, null,
      jsonb_build_object('from', v_document.fallback_embedder, 'to', v_document.embedder));
    perform ingest.enqueue_ingest(v_document.document_id);
    v_count := v_count + 1;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_count;
end;
$$;
