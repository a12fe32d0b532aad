-- Records that blobs are about to be written, and returns the ids of their files. Commit it before writing the first of them:
-- ingest.take_in() and ingest.put_content() remove the intent in the transaction that inserts the file. The ids are made
-- here, so that no tenant can name another's file. Raises PS012, PS017.
create or replace function files.make_intents(_count integer)
returns uuid[]
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant := ingest.open_tenant();
  v_origin text := files.store_origin();
  v_file_ids uuid[];
begin
  with made as (
    select internal.uuid7() as file_id
    from generate_series(1, least(_count, 1000))
  ), recorded as (
    insert into files.blob_intent (file_id, tenant_id, blob_path, origin, created_at)
    select m.file_id, v_tenant.tenant_id, 'documents/' || m.file_id::text, v_origin, internal.clock()
    from made m
    returning blob_intent.file_id
  )
  select coalesce(array_agg(r.file_id), '{}') into v_file_ids
  from recorded r;
  return v_file_ids;
end;
$$;
