-- Takes up to _limit parameters that are to be deleted and are due: those of deleted secrets, and those of this database that
-- were planned an hour ago and whose secret is not there. Each is returned again after a growing pause (ten seconds to an
-- hour), until all_tenants.note_parameters() says that it is gone. Locks: the rows it takes, skipping locked ones.
create or replace function all_tenants.due_parameters(_limit integer default 10)
returns table (secret_id uuid, parameter_name text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  update vault.parameter p set doomed_at = internal.clock()
  where p.doomed_at is null and p.removed_at is null and p.created_at < internal.clock() - interval '1 hour'
    and p.origin = (select files.store_origin())
    and not exists (select from vault.secret s where s.secret_id = p.secret_id);
  return query
    with due as (
      select d.secret_id from vault.parameter d
      where d.doomed_at is not null and d.removed_at is null
        and (d.next_attempt_at is null or d.next_attempt_at <= internal.clock())
      order by d.doomed_at
      limit _limit
      for update skip locked
    )
    update vault.parameter p set
      attempts = p.attempts + 1,
      next_attempt_at = internal.clock() + least(interval '1 hour', interval '10 seconds' * 2 ^ least(p.attempts, 10))
    from due
    where p.secret_id = due.secret_id
    returning p.secret_id, p.parameter_name;
end;
$$;
