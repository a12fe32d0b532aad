-- Abandons intents whose upload never committed: recorded longer ago than `_age`, or of a deleted tenant. Their blobs may be
-- removed from the store; all_tenants.forget_intents() finishes it. An upload in progress holds its row and is skipped; paths
-- that a file uses, and intents recorded by another database, are never returned. An intent that was returned ten minutes ago
-- and not finished is returned again, because the caller died. Locks: the rows it abandons, without waiting.
create or replace function all_tenants.abandon_intents(_age interval, _limit integer default 500)
returns table (file_id uuid, blob_path text)
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  with stale as (
    select i.file_id
    from files.blob_intent i
    join accounts.tenant t using (tenant_id)
    where (i.created_at < internal.clock() - _age or t.status = 'deleted')
      and (i.abandoned_at is null or i.abandoned_at < internal.clock() - interval '10 minutes')
      and i.origin = (select files.store_origin())
      and not exists (select from files.file f where f.blob_path = i.blob_path)
    order by i.created_at
    limit _limit
    for update of i skip locked
  )
  update files.blob_intent i set abandoned_at = internal.clock()
  from stale
  where i.file_id = stale.file_id
  returning i.file_id, i.blob_path;
$$;
