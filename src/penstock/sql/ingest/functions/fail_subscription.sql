-- Notes that creating, renewing or dropping a subscription failed, and when it is tried again: after 1, 2, 4 … minutes, at most
-- an hour, or later if the provider asked for that. Locks: the subscription's row. Raises PS012.
create or replace function ingest.fail_subscription(
  _subscription_id uuid, _code text, _message text, _seconds double precision default 0
)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  update ingest.subscription u set
    failures = u.failures + 1, error_code = left(_code, 100), error_message = left(_message, 500),
    next_try_at = internal.clock() + greatest(
      least(interval '1 minute' * power(2, least(u.failures, 10)), interval '1 hour'),
      make_interval(secs => least(_seconds, 86400)))
  where u.tenant_id = internal.require_tenant() and u.subscription_id = _subscription_id and u.ended_at is null;
$$;
