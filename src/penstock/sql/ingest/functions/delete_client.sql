-- Deletes a record of a client that a person wrote, and what a person decided about it. Locks: the record's row.
-- Raises PS011 for a record that a source states, PS012, PS013.
create or replace function ingest.delete_client(_client_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_client ingest.client_intelligence := ingest.manual_client(_client_id);
begin
  delete from ingest.client_apart a where a.client_id = v_client.client_id;
  delete from ingest.client_join j where v_client.client_id in (j.client_id, j.other_id);
  delete from ingest.client_intelligence c where c.client_id = v_client.client_id;
  perform ingest.group_all_clients();
end;
$$;
