-- How many secrets each master key wraps, since when, and when a rotation to it began and ended; never a key.
create or replace function all_tenants.vault_keys()
returns table (
  key_id text, kms_key_id text, secrets bigint, oldest timestamptz, newest timestamptz,
  rotating_since timestamptz, rotated_at timestamptz, forgotten_at timestamptz
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    coalesce(k.key_id, s.key_id), k.kms_key_id, coalesce(s.secrets, 0), s.oldest, s.newest, k.rotating_since, k.rotated_at,
    k.forgotten_at
  from internal.vault_key k
  full join (
    select x.key_id, count(*) as secrets, min(x.created_at) as oldest, max(x.created_at) as newest
    from vault.secret x
    group by x.key_id) s on s.key_id = k.key_id
  order by k.position desc nulls last;
$$;
