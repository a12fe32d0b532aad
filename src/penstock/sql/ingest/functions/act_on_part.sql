-- The same as ingest.act_on() for all that is neither a document nor a task. Its state is looked at again: it may have changed since the
-- items were chosen. `_own` is the key or session of who started it. Returns why it was skipped; null: it was done. Runs with its caller's rights.
-- Locks: those of the function it calls. Raises what that raises.
create or replace function ingest.act_on_part(_action text, _item text, _started_by text, _own text)
returns text
language plpgsql
as $$
declare
  v_filter jsonb := jsonb_strip_nulls(jsonb_build_object('ids', jsonb_build_array(_item), 'own', _own));
  v_state text;
  v_reason text;
  v_record uuid;
begin
  select t.state into v_state from ingest.operation_targets(_action, v_filter, 'infinity') t limit 1;
  if not found then
    return 'it is no longer there';
  end if;
  v_reason := ingest.why_skipped(_action, v_state);
  if v_reason is not null then
    return v_reason;
  end if;
  case _action
    when 'sources.sync' then
      perform ingest.request_sync(_item::uuid);
    when 'sources.pause', 'sources.resume' then
      perform ingest.pause_source(_item::uuid, _action = 'sources.pause');
    when 'clients.delete' then
      for v_record in
        select c.client_id from ingest.client_member m
        join ingest.client_intelligence c on c.client_id = m.client_id and c.source_id is null
        where m.tenant_id = internal.require_tenant() and m.group_id = _item::uuid
        order by c.client_id
      loop
        perform ingest.delete_client(v_record);
      end loop;
    when 'processes.retry' then
      perform all_tenants.restart_root(split_part(_item, '/', 1), split_part(_item, '/', 2)::bigint);
    when 'keys.revoke' then
      perform accounts.revoke_key(_item::uuid);
    when 'sessions.end' then
      if internal.tenant_id() is null then
        perform all_tenants.end_session(_item::uuid);
      else
        perform accounts.end_session(_item::uuid);
      end if;
    when 'queues.pause' then
      if _item = 'operate' then
        return 'operations run in it';
      end if;
      perform queues.pause(_item, _started_by);
    when 'queues.resume' then
      perform queues.resume(_item);
    when 'inlets.pause', 'inlets.resume' then
      perform queues.set_inlet(_item, _action = 'inlets.resume', _started_by);
    when 'operations.cancel' then
      perform ingest.stop_operation(_item::uuid, _started_by);
    when 'workers.stop' then
      perform queues.ask_to_stop(_item::integer, _started_by);
    when 'schedules.run' then
      perform queues.run_schedule(_item);
    when 'schedules.pause', 'schedules.resume' then
      perform queues.set_schedule(_item, _action = 'schedules.resume');
  end case;
  return null;
end;
$$;
