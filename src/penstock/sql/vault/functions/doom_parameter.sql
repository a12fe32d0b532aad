-- Notes that the parameter of a deleted secret is to be deleted too; a worker does it within a minute.
create or replace function vault.doom_parameter()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  update vault.parameter p set doomed_at = internal.clock()
  where p.secret_id = old.secret_id and p.doomed_at is null;
  return null;
end;
$$;
