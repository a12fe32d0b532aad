-- Trigger on ingest.document: enforces the tenant's quotas once for all documents that a statement adds. Raises PS020.
create or replace function ingest.documents_within_quota()
returns trigger
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  perform accounts.check_quota(a.tenant_id, a.documents, a.bytes)
  from (
    select n.tenant_id, count(*)::integer as documents, sum(n.size_bytes)::bigint as bytes from added n group by n.tenant_id
  ) a;
  return null;
end;
$$;
