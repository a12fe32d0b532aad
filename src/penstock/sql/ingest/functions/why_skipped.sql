-- Why an action would leave out something in this state; null when it would not.
create or replace function ingest.why_skipped(_action text, _state text)
returns text
language sql
immutable
parallel safe
as $$
  select case
    when _action = 'documents.retry' and _state = 'indexed' then 'it is indexed; re-index it instead'
    when _action = 'documents.retry' and _state not in ('failed', 'skipped') then 'it is still being processed'
    when _action = 'tasks.run_now' and _state <> 'waiting' then 'it does not wait for a time'
    when _action = 'decisions.restore' and _state = 'restored' then 'it is already restored'
    when _action = 'sources.sync' and _state = 'paused' then 'it is paused; resume it instead'
    when _action = 'sources.sync' and _state = 'receiving' then 'others send to it; it is not synced'
    when _action = 'sources.sync' and _state = 'needs_you' then 'somebody has to connect it again first'
    when _action in ('sources.pause', 'queues.pause', 'inlets.pause') and _state = 'paused' then 'it is already paused'
    when _action in ('sources.resume', 'queues.resume', 'inlets.resume') and _state <> 'paused' then 'it is not paused'
    when _action = 'clients.delete' and _state = 'source' then 'all its records come from sources'
    when _action = 'processes.retry' and _state = 'open' then 'it has not ended'
    when _action = 'processes.retry' and _state = 'succeeded' then 'it has succeeded'
    when _action = 'keys.revoke' and _state = 'revoked' then 'it is already revoked'
    when _action = 'keys.revoke' and _state = 'own' then 'it is your own key'
    when _action = 'sessions.end' and _state = 'own' then 'it is your own session'
    when _action = 'workers.stop' and _state = 'stopping' then 'it was already asked to stop'
    when _action = 'workers.stop' and _state in ('stopped', 'lost') then 'it has ended'
    when _action = 'schedules.pause' and _state = 'off' then 'it is already off'
    when _action = 'schedules.resume' and _state = 'on' then 'it is already on'
    when _action = 'operations.cancel' and _state = 'cancelling' then 'it cancels others'
    when _action = 'operations.cancel' and _state not in ('running', 'watching') then 'it has ended'
    when _action = 'decisions.restore' and _state = 'link' then 'it is a link to a file that is stored elsewhere'
  end;
$$;
