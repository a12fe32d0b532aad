-- Removes what is kept for a limited time: replies to idempotent requests (a day), deliveries received (twice the time for
-- which a signature is valid), parameters that were deleted (30 days), sessions and links to sign in that no longer work (a
-- day), the audit (a year). Returns how many rows.
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
  v_count integer;
  v_signed_in integer := 0;
begin
  delete from accounts.kept_reply k where k.created_at < internal.clock() - interval '1 day';
  get diagnostics v_replies = row_count;
  delete from ingest.webhook_seen w where w.seen_at < internal.clock() - interval '20 minutes';
  get diagnostics v_seen = row_count;
  delete from vault.parameter p where p.removed_at < internal.clock() - interval '30 days';
  get diagnostics v_parameters = row_count;
  delete from accounts.session s where s.expires_at < internal.clock() - interval '1 day';
  get diagnostics v_count = row_count;
  v_signed_in := v_signed_in + v_count;
  delete from internal.operator_session s where s.expires_at < internal.clock() - interval '1 day';
  get diagnostics v_count = row_count;
  v_signed_in := v_signed_in + v_count;
  delete from accounts.login_link l where l.expires_at < internal.clock() - interval '1 day';
  get diagnostics v_count = row_count;
  v_signed_in := v_signed_in + v_count;
  delete from internal.operator_link l where l.expires_at < internal.clock() - interval '1 day';
  get diagnostics v_count = row_count;
  v_signed_in := v_signed_in + v_count;
  delete from accounts.audit_entry a where a.at < internal.clock() - interval '1 year';
  get diagnostics v_count = row_count;
  v_signed_in := v_signed_in + v_count;
  delete from internal.operator_audit a where a.at < internal.clock() - interval '1 year';
  get diagnostics v_count = row_count;
  return v_replies + v_seen + v_parameters + v_signed_in + v_count;
end;
$$;
