-- Does an operation's action to one item, for the item's tenant. Returns why it was skipped; null: it was done. Runs with its caller's
-- rights. Locks: those of the function it calls. Raises what that raises.
create or replace function ingest.act_on(_action text, _item text, _started_by text, _own text default null)
returns text
language plpgsql
as $$
declare
  v_state text;
begin
  if split_part(_action, '.', 1) not in ('documents', 'decisions', 'tasks', 'dead') then
    return ingest.act_on_part(_action, _item, _started_by, _own);
  end if;
  case _action
    when 'documents.retry' then
      perform ingest.retry_document(_item::uuid);
    when 'documents.reindex' then
      perform ingest.reindex_document(_item::uuid);
    when 'documents.delete' then
      perform ingest.delete_document(_item::uuid);
    when 'decisions.restore' then
      select ingest.why_skipped(_action, 'restored') into v_state from ingest.decision d
      where d.decision_id = _item::uuid and d.outcome = 'restored';
      if found then
        return v_state;
      end if;
      perform ingest.restore_decision(_item::uuid, _started_by);
    when 'tasks.cancel' then
      v_state := queues.cancel_task(_item::bigint, 'cancelled by an operation of ' || _started_by);
      if v_state = 'ended' then
        return 'it has already ended';
      end if;
    when 'tasks.run_now' then
      if not queues.run_now(_item::bigint) then
        return 'it no longer waits';
      end if;
    when 'dead.replay' then
      if queues.replay(array[_item::bigint]) = '{}' then
        return 'it is no longer a dead letter';
      end if;
    when 'dead.purge' then
      if queues.purge_dead(array[_item::bigint]) = 0 then
        return 'it is no longer a dead letter';
      end if;
  end case;
  return null;
end;
$$;
