-- Starts the removal of files that are no longer used and whose removal was not requested: replaced an hour ago or more, or
-- of a deleted document. For every tenant. Returns how many.
create or replace function all_tenants.start_file_deletions(_limit integer default 500)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_file record;
  v_count integer := 0;
  v_tenant text := current_setting('penstock.tenant_id', true);
begin
  for v_file in
    select f.tenant_id, f.file_id
    from files.file f
    join ingest.document d on d.document_id = f.document_id
    where f.blob_path not like 'removed/%'
      and (d.deleted_at is not null or d.file_id is distinct from f.file_id and f.deleted_at < internal.clock() - interval '1 hour')
      and not exists (select from files.file_deletion_task t where t.file_id = f.file_id)
    limit _limit
  loop
    perform set_config('penstock.tenant_id', v_file.tenant_id::text, true);
    perform files.kickoff_file_deletion(v_file.file_id);
    v_count := v_count + 1;
  end loop;
  perform set_config('penstock.tenant_id', coalesce(v_tenant, ''), true);
  return v_count;
end;
$$;
