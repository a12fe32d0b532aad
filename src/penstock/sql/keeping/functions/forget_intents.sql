-- Ends intents whose blobs were removed from the store, and drops old ones of another database, whose blobs nobody here
-- may touch. Returns how many were ended.
create or replace function keeping.forget_intents(_file_ids uuid[], _foreign_age interval default '7 days')
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
