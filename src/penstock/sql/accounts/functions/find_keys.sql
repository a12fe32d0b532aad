-- The tenant's keys that a filter selects, with their states (active, expired, revoked; `own` for the one that the filter of this name
-- has): `state`, `q` (part of the name), `ids`. The list and the operations both use it. Raises PS012.
create or replace function accounts.find_keys(_filter jsonb default '{}', _before timestamptz default 'infinity')
returns table (key_id uuid, tenant_id uuid, state text)
language sql
stable
as $$
  select k.key_id, k.tenant_id, case when k.key_id::text = _filter ->> 'own' then 'own' else s.state end
  from accounts.api_key k
  cross join lateral (
    select case
      when k.revoked_at is not null then 'revoked'
      when k.expires_at <= internal.clock() then 'expired'
      else 'active' end as state) s
  where k.tenant_id = internal.require_tenant() and k.created_at <= _before
    and internal.in_filter(s.state, _filter ->> 'state')
    and (_filter ->> 'q' is null or strpos(lower(k.name), lower(_filter ->> 'q')) > 0)
    and (not _filter ? 'ids' or _filter -> 'ids' ? k.key_id::text);
$$;
