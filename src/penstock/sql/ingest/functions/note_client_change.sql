-- Trigger on ingest.client_intelligence: notes that rows have to be grouped again. The keys that a source states are noted by
-- ingest.put_facts(). An existing note is updated, not left alone: it may be in use by a grouping that does not see this change.
-- No nested loop, which would compare each row with all others.
-- Runs with the rights of the role that writes the clients. Locks: the notes, by id.
create or replace function ingest.note_client_change()
returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_hashjoin = on
set enable_nestloop = off
as $$
declare
  v_tenant_ids uuid[];
  v_client_ids uuid[];
begin
  if tg_op = 'INSERT' then
    select array_agg(w.tenant_id), array_agg(w.client_id) into v_tenant_ids, v_client_ids from written w;
  elsif tg_op = 'DELETE' then
    select array_agg(b.tenant_id), array_agg(b.client_id) into v_tenant_ids, v_client_ids from before b;
  else
    -- Its group shows the name and the industry.
    select array_agg(w.tenant_id), array_agg(w.client_id) into v_tenant_ids, v_client_ids
    from written w
    join before b on b.client_id = w.client_id
    where b.client_name <> w.client_name or b.industry is distinct from w.industry
      or (w.source_id is null and b.key_facts <> w.key_facts);
  end if;
  if v_client_ids is not null then
    insert into ingest.client_change (client_id, tenant_id, changed_at)
    select n.client_id, n.tenant_id, internal.clock()
    from unnest(v_client_ids, v_tenant_ids) as n (client_id, tenant_id)
    order by n.client_id
    on conflict (client_id) do update set changed_at = excluded.changed_at;
  end if;
  return null;
end;
$$;
