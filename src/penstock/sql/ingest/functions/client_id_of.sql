-- The id of the client that an item of a source is about. Made of both ids, so that a client that was removed at the provider
-- and comes back has the same id, and what a person decided about it still holds.
create or replace function ingest.client_id_of(_source_id uuid, _external_id text)
returns uuid
language sql
immutable
parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select encode(
    set_byte(set_byte(h.bytes, 6, (get_byte(h.bytes, 6) & 15) | 128), 8, (get_byte(h.bytes, 8) & 63) | 128), 'hex')::uuid
  from (select substring(sha256(convert_to(_source_id::text || '/' || _external_id, 'utf8')) for 16) as bytes) h;
$$;
