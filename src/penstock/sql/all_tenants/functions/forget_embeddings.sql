-- Removes up to _limit cached embeddings that were not used for this many days, and returns how many.
-- Locks: the rows it deletes, skipping those in use.
create or replace function all_tenants.forget_embeddings(_days integer default 90, _limit integer default 10000)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_forgotten integer;
begin
  delete from ingest.embedding_cache e
  where e.ctid = any (array(
    select c.ctid from ingest.embedding_cache c
    where c.used_at < internal.clock() - make_interval(days => _days)
    limit _limit
    for update skip locked));
  get diagnostics v_forgotten = row_count;
  return v_forgotten;
end;
$$;
