-- Ends any session at once, of a tenant or of the installation. For operators. Raises PS013.
create or replace function all_tenants.end_session(_session_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update internal.operator_session s set revoked_at = coalesce(s.revoked_at, internal.clock())
  where s.session_id = _session_id;
  if found then
    return;
  end if;
  update accounts.session s set revoked_at = coalesce(s.revoked_at, internal.clock()) where s.session_id = _session_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'session_id',
      message = format('there is no session %s', _session_id), hint = 'List the sessions to see their ids.';
  end if;
end;
$$;
