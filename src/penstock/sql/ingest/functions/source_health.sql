-- How a source is, derived from facts: how its syncs are (ingest.sync_health), how the connection to its provider is
-- (ingest.connection_status), and whether the provider notifies us (ingest.push_of). A source that is synced but no longer
-- notified is degraded: its schedule still finds everything, only later.
create or replace function ingest.source_health(_source ingest.source)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_health jsonb := ingest.sync_health(_source);
  v_push jsonb;
  v_connection text;
begin
  if v_health ->> 'state' = 'receiving' then
    return v_health;
  end if;
  v_push := ingest.push_of(_source);
  v_connection := ingest.connection_status(_source, v_push);
  if v_connection = 'subscription_expired' and v_health ->> 'state' = 'healthy' then
    v_health := v_health || jsonb_build_object(
      'state', 'degraded',
      'code', coalesce(v_push ->> 'code', 'subscription_expired'),
      'reason', 'the provider sends no notifications' || coalesce(' (' || (v_push ->> 'reason') || ')', '')
        || case
          when _source.sync_every is null then '; it is synced only when asked'
          else format('; it is synced every %s s all the same', extract(epoch from _source.sync_every)::bigint) end,
      'action', 'Nothing, unless it lasts: a new subscription is asked for; penstock doctor says what is in the way');
  end if;
  return v_health || jsonb_build_object('connection', v_connection, 'push', v_push);
end;
$$;
