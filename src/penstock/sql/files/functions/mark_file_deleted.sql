-- A blob was removed from the store: its row stays as a record, without the path. Raises PS012.
create or replace function files.mark_file_deleted(_file_id uuid)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  update files.file f set
    deleted_at = coalesce(f.deleted_at, internal.clock()), blob_path = 'removed/' || f.file_id::text
  where f.tenant_id = internal.require_tenant() and f.file_id = _file_id;
$$;
