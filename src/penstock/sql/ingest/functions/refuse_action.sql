-- Raises PS005 for an action that is not there, or that a transaction of this kind may not do: queues, inlets, workers and schedules
-- belong to all tenants, documents, sources, clients and keys to one.
create or replace function ingest.refuse_action(_action text)
returns void
language plpgsql
stable
as $$
declare
  v_known constant text[] := array[
    'documents.retry', 'documents.reindex', 'documents.delete', 'tasks.cancel', 'tasks.run_now', 'dead.replay', 'dead.purge',
    'decisions.restore', 'sources.sync', 'sources.pause', 'sources.resume', 'clients.delete', 'processes.retry', 'keys.revoke',
    'sessions.end', 'queues.pause', 'queues.resume', 'workers.stop', 'schedules.run', 'schedules.pause', 'schedules.resume',
    'operations.cancel', 'inlets.pause', 'inlets.resume'];
  v_kind text := split_part(_action, '.', 1);
begin
  if _action is null or _action <> all (v_known) then
    raise exception using errcode = 'PS005', detail = 'action', message = format('%L is not an action', _action),
      hint = 'Use one of ' || array_to_string(v_known, ', ') || '.';
  elsif internal.tenant_id() is null and v_kind in ('documents', 'decisions', 'sources', 'clients', 'keys') then
    raise exception using errcode = 'PS005', detail = 'action', message = format('%s acts on one tenant', _action),
      hint = 'Name the tenant: send X-Penstock-Tenant, or use --tenant.';
  elsif internal.tenant_id() is not null and v_kind in ('queues', 'inlets', 'workers', 'schedules') then
    raise exception using errcode = 'PS005', detail = 'action', message = format('%s acts on what all tenants share', _action),
      hint = 'Sign in to the installation: penstock login';
  end if;
end;
$$;
