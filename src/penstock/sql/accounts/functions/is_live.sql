-- Whether a session still works: neither ended nor expired, nor its key.
create or replace function accounts.is_live(_session accounts.session)
returns boolean
language sql
stable
as $$
  select _session.revoked_at is null and _session.expires_at > internal.clock() and not exists (
    select from accounts.api_key k
    where k.key_id = _session.key_id and (k.revoked_at is not null or k.expires_at <= internal.clock()));
$$;
