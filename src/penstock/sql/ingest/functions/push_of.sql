-- Whether a source's provider notifies us, derived from its subscriptions: none, pending (asked for), active, expired (there was
-- one), failed (there never was one). Runs with its caller's rights: all_tenants.push_health() looks at every tenant.
create or replace function ingest.push_of(_source ingest.source)
returns jsonb
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_last ingest.subscription;
  v_state text;
begin
  select * into v_last from ingest.subscription u where u.source_id = _source.source_id
  order by u.ended_at is not null, u.requested_at desc, u.subscription_id desc limit 1;
  v_state := case
    when v_last.subscription_id is null or v_last.end_reason in ('dropped', 'disconnected', 'off') then 'none'
    when v_last.ended_at is null and v_last.expires_at > internal.clock() then 'active'
    when v_last.created_at is not null then 'expired'
    when exists (
      select from ingest.subscription b
      where b.source_id = _source.source_id and b.created_at is not null
        and b.end_reason in ('expired', 'lost', 'removed') and not exists (
          select from ingest.subscription o
          where o.source_id = _source.source_id and o.requested_at >= b.requested_at
            and o.end_reason in ('dropped', 'disconnected', 'off'))) then 'expired'
    when v_last.failures > 0 then 'failed'
    else 'pending' end;
  return jsonb_strip_nulls(jsonb_build_object('state', v_state, 'last_notified_at', v_last.last_notified_at)
    || case when v_state = 'none' then '{}' else jsonb_build_object(
      'expires_at', v_last.expires_at, 'renew_at', case when v_state = 'active' then v_last.renew_at end,
      'code', v_last.error_code, 'reason', v_last.error_message, 'next_try_at', v_last.next_try_at) end);
end;
$$;
