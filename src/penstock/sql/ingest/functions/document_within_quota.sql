-- Trigger on ingest.document: enforces the tenant's quotas when a document grows. Raises PS020.
create or replace function ingest.document_within_quota()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform accounts.check_quota(new.tenant_id, 0, new.size_bytes - old.size_bytes);
  return null;
end;
$$;
