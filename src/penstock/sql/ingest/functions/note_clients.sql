-- Notes that these rows have to be grouped again. A note of this transaction needs no update: no grouping has seen it yet. Runs
-- with its caller's rights. Locks: the notes, by id.
create or replace function ingest.note_clients(_client_ids uuid[])
returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into ingest.client_change (client_id, tenant_id, changed_at)
  select distinct c.id, internal.require_tenant(), internal.clock()
  from unnest(_client_ids) c (id)
  left join lateral (
    select true as is_noted from ingest.client_change o
    where o.client_id = c.id and o.xmin = pg_current_xact_id()::xid
    offset 0) n on true
  where n.is_noted is null
  order by c.id
  on conflict (client_id) do update set changed_at = excluded.changed_at;
$$;
