-- Removes intents whose blobs were removed from the store, and old ones of another database, whose blobs must not be touched
-- here. Returns how many of the first kind.
create or replace function all_tenants.forget_intents(_file_ids uuid[], _foreign_age interval default '7 days')
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count integer;
begin
  delete from files.blob_intent i
  where i.created_at < internal.clock() - _foreign_age and i.origin <> files.store_origin();
  delete from files.blob_intent i where i.file_id = any (_file_ids) and i.abandoned_at is not null;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
