-- Which of these blobs are unknown: no file has them, none was removed in the last hour, and no upload has an intent to write
-- them. For people to read; it removes nothing.
create or replace function all_tenants.unknown_blobs(_paths text[])
returns setof text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select p.path from unnest(_paths) as p (path)
  where not exists (select from files.file f where f.blob_path = p.path)
    and not exists (select from files.blob_intent i where i.blob_path = p.path)
    and not exists (
      select from files.file f
      where p.path ~ '^documents/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$'
        and f.blob_path = 'removed/' || substr(p.path, 11)
        and f.deleted_at > internal.clock() - interval '1 hour');
$$;
