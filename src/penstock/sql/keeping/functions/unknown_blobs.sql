-- Which of these blobs no document has: left by a process that died between writing and committing.
create or replace function keeping.unknown_blobs(_paths text[])
returns setof text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.path from unnest(_paths) as p (path)
  where not exists (select from files.file f where f.blob_path = p.path);
$$;
