-- Like all_tenants.settle_stranded(), for workers of an older release: returns how many documents. Locks: the same.
create or replace function all_tenants.settle_documents(_quiet interval default '1 minute', _limit integer default 500)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return (select count(*) from all_tenants.settle_stranded(_quiet, _limit));
end;
$$;
