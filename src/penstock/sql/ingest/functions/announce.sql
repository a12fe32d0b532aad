-- Enqueues the tenant's completion webhook for an ingestion that ended, if the tenant has one.
create or replace function ingest.announce(_ingestion_id uuid)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  select queues.enqueue(
    _task_type => 'deliver-webhook',
    _payload => jsonb_build_object('ingestion_id', _ingestion_id),
    _tenant_id => t.tenant_id)
  from accounts.tenant t where t.tenant_id = internal.require_tenant() and t.webhook_url is not null;
$$;
