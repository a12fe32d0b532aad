-- Removes what is kept for a limited time: replies to idempotent requests (a day), deliveries received (twice the time for
-- which a signature is valid), parameters that were deleted (30 days). Returns how many rows.
create or replace function all_tenants.forget_old()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_replies integer;
  v_seen integer;
  v_parameters integer;
begin
  delete from accounts.kept_reply k where k.created_at < internal.clock() - interval '1 day';
  get diagnostics v_replies = row_count;
  delete from ingest.webhook_seen w where w.seen_at < internal.clock() - interval '20 minutes';
  get diagnostics v_seen = row_count;
  delete from vault.parameter p where p.removed_at < internal.clock() - interval '30 days';
  get diagnostics v_parameters = row_count;
  return v_replies + v_seen + v_parameters;
end;
$$;
