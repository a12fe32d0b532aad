-- Removes up to _limit secrets that have been orphaned for _days, and returns how many. Access tokens, which have expired, go
-- after a day, and what takes up a parameter, of which AWS allows ten thousand, after an hour, but not while they are to be revoked. Before that it orphans secrets
-- of sources that no source points at although they are a day old: their process died before it could point the source at
-- them, or before it could note what it replaced. What a source points at stays, even when it was noted as orphaned.
-- Locks: the secrets it changes, skipping locked ones.
create or replace function all_tenants.sweep_orphans(_days integer default 7, _limit integer default 1000)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_swept integer;
begin
  update vault.secret s set orphaned_at = internal.clock()
  where s.secret_id in (
    select o.secret_id from vault.secret o
    join ingest.source u on u.source_id = o.source_id
    where o.orphaned_at is null and o.created_at < internal.clock() - interval '1 day'
      and o.secret_id is distinct from u.access_token_vault_id
      and o.secret_id is distinct from u.refresh_token_vault_id
      and o.secret_id <> all (u.secret_ids)
    limit _limit
    for update of o skip locked);
  delete from vault.secret s
  where s.secret_id in (
    select o.secret_id from vault.secret o
    where o.orphaned_at < internal.clock() - interval '1 hour' -- the index knows only this
      and o.orphaned_at < internal.clock() - case
        when exists (select from ingest.revocation r where r.source_id = o.source_id and r.ended_at is null)
          then make_interval(days => _days)
        when o.parameter_name is not null then interval '1 hour'
        when o.purpose = 'access_token' then interval '1 day'
        else make_interval(days => _days) end
      and not exists (
        select from ingest.source u
        where u.tenant_id = o.tenant_id
          and (o.secret_id in (u.access_token_vault_id, u.refresh_token_vault_id) or o.secret_id = any (u.secret_ids)))
    order by o.orphaned_at
    limit _limit
    for update of o skip locked);
  get diagnostics v_swept = row_count;
  return v_swept;
end;
$$;
