-- Opens an incident for each source of every tenant that a person must connect again, closes those whose source was synced since
-- or is gone, and returns those whose tenant is to be told: once each, and only if the tenant has a contact.
-- Locks: the incidents it opens or closes.
create or replace function all_tenants.note_incidents(_limit integer default 100)
returns table (tenant_id uuid, source_id uuid, kind text, title text, name text, status_message text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := internal.clock();
begin
  update ingest.reconnect_incident i set closed_at = v_now
  from ingest.source s
  where s.source_id = i.source_id and i.closed_at is null and (s.synced_at > i.opened_at or s.removed_at is not null);
  insert into ingest.reconnect_incident (source_id, opened_at, tenant_id)
  select s.source_id, v_now, s.tenant_id from ingest.source s
  join accounts.tenant t on t.tenant_id = s.tenant_id and t.status = 'active'
  where s.status = 'error' and s.removed_at is null
    and not exists (select from ingest.reconnect_incident o where o.source_id = s.source_id and o.closed_at is null)
  on conflict do nothing;
  return query
  select i.tenant_id, i.source_id, s.kind, k.title, s.name, s.status_message
  from ingest.reconnect_incident i
  join ingest.source s on s.source_id = i.source_id and s.status = 'error'
  join internal.source_kind k on k.kind = s.kind
  join accounts.tenant t on t.tenant_id = i.tenant_id and t.status = 'active' and t.contact_email is not null
  where i.closed_at is null and i.notified_at is null
  order by i.opened_at, i.source_id limit _limit;
end;
$$;
