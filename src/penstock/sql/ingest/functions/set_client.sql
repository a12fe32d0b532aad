-- Changes a record of a client that a person wrote: only what _changes names (name, industry, summary, key_facts). Returns its id.
-- Locks: the record's row. Raises PS005, PS011 for a record that a source states, PS012, PS013.
create or replace function ingest.set_client(_client_id uuid, _changes jsonb)
returns uuid
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_client ingest.client_intelligence := ingest.manual_client(_client_id);
begin
  if _changes ? 'name' and coalesce(btrim(_changes ->> 'name'), '') = '' then
    raise exception using errcode = 'PS005', detail = 'name', message = 'a client needs a name', hint = 'Give it one.';
  end if;
  update ingest.client_intelligence c set
    client_name = case when _changes ? 'name' then btrim(_changes ->> 'name') else c.client_name end,
    industry = case when _changes ? 'industry' then _changes ->> 'industry' else c.industry end,
    summary = case when _changes ? 'summary' then _changes ->> 'summary' else c.summary end,
    key_facts = case when _changes ? 'key_facts' then coalesce(nullif(_changes -> 'key_facts', 'null'), '{}') else c.key_facts end,
    embedding_model = null, -- the worker embeds it again
    updated_at = internal.clock()
  where c.client_id = v_client.client_id;
  perform ingest.group_all_clients();
  return v_client.client_id;
end;
$$;
