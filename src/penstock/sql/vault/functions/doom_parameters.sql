-- Dooms every parameter of a tenant that is being deleted, and returns how many are not deleted yet. One that was planned less
-- than five minutes ago and whose secret is not there may still be being written, and is doomed later. Runs with its caller's
-- rights, for the transaction's tenant.
create or replace function vault.doom_parameters(_tenant_id uuid)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update vault.parameter p set doomed_at = internal.clock()
  where p.tenant_id = _tenant_id and p.doomed_at is null
    and (
      p.created_at < internal.clock() - interval '5 minutes'
      or exists (select from vault.secret s where s.secret_id = p.secret_id));
  return (select count(*) from vault.parameter p where p.tenant_id = _tenant_id and p.removed_at is null);
end;
$$;
