-- How many secrets have their ciphertext in AWS's Parameter Store, how many parameters wait for their deletion, and for how many
-- it failed, with the newest of the error codes.
create or replace function all_tenants.parameter_health(
  out secrets bigint, out waiting bigint, out failing bigint, out error_code text
)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select
    (select count(*) from vault.secret s where s.parameter_name is not null),
    count(*),
    count(*) filter (where p.error_code is not null),
    (array_agg(p.error_code order by p.next_attempt_at desc) filter (where p.error_code is not null))[1]
  from vault.parameter p
  where p.doomed_at is not null and p.removed_at is null;
$$;
