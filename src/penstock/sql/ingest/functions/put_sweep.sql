-- Notes a generation that no search shows any more, to be removed later in small steps.
create or replace function ingest.put_sweep(_document_id uuid, _generation integer, _after interval)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into ingest.sweep (tenant_id, document_id, generation, due_at)
  values (internal.require_tenant(), _document_id, _generation, internal.clock() + _after)
  on conflict do nothing;
$$;
