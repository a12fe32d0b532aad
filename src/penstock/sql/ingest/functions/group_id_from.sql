-- The id of a group that begins with this row: the same each time, so that a client that comes back has the id it had, and never
-- that of a row. If it were the row's own, then once the row is split off, the group it left would be taken for it.
create or replace function ingest.group_id_from(_client_id uuid)
returns uuid
language sql
immutable
set search_path = pg_catalog, pg_temp
as $$
  select md5('client ' || _client_id)::uuid;
$$;
