-- Makes a kind of source known that an installed package provides; Penstock's own kinds come with the code.
-- Locks: the kind's row. Raises 23514 for a kind that is not plain.
create or replace function all_tenants.declare_source_kind(_kind text, _title text)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into internal.source_kind as k (kind, title, identity)
  values (_kind, _title, 'item')
  on conflict (kind) do update set title = excluded.title
  where k.identity = 'item' and k.title is distinct from excluded.title;
end;
$$;
