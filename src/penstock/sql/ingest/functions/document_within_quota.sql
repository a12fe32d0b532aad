-- Trigger on ingest.document: whichever way a document is added or grows, the tenant's quotas hold. Raises PS020.
create or replace function ingest.document_within_quota()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if tg_op = 'INSERT' then
    perform accounts.check_quota(new.tenant_id, 1, new.size_bytes);
  else
    perform accounts.check_quota(new.tenant_id, 0, new.size_bytes - old.size_bytes);
  end if;
  return null;
end;
$$;
