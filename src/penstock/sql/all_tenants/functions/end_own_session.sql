-- Signs out: ends the session with this hash, whose holder nobody else is. Ending it again changes nothing.
create or replace function all_tenants.end_own_session(_session_sha256 bytea)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update accounts.session s set revoked_at = internal.clock()
  where s.token_sha256 = _session_sha256 and s.revoked_at is null;
  update internal.operator_session s set revoked_at = internal.clock()
  where s.token_sha256 = _session_sha256 and s.revoked_at is null;
end;
$$;
