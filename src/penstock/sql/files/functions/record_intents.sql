-- Records that blobs are about to be written, one for each file id. To be committed before the first of them is: what
-- ingest.take_in() and ingest.put_content() then insert as a file is taken off the list in the same transaction.
-- Raises PS012, PS017.
create or replace function files.record_intents(_file_ids uuid[])
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant := ingest.open_tenant();
  v_origin text := files.store_origin();
begin
  insert into files.blob_intent (file_id, tenant_id, blob_path, origin, created_at)
  select i.file_id, v_tenant.tenant_id, 'documents/' || i.file_id::text, v_origin, internal.clock()
  from unnest(_file_ids) as i (file_id);
end;
$$;
