-- Ends a session of this tenant at once; ending it again changes nothing. Raises PS012, PS013.
create or replace function accounts.end_session(_session_id uuid)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update accounts.session s set revoked_at = coalesce(s.revoked_at, internal.clock())
  where s.tenant_id = internal.require_tenant() and s.session_id = _session_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'session_id',
      message = format('there is no session %s', _session_id), hint = 'List the sessions to see their ids.';
  end if;
end;
$$;
