-- Notes which parameters were deleted (no error code) and why others could not be.
create or replace function all_tenants.note_parameters(_secret_ids uuid[], _error_codes text[])
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  update vault.parameter p set
    error_code = n.error_code,
    removed_at = case when n.error_code is null then internal.clock() end
  from unnest(_secret_ids, _error_codes) as n (secret_id, error_code)
  where p.secret_id = n.secret_id and p.removed_at is null;
$$;
