-- Called when a document was added or has grown: checks the tenant's quotas of documents and stored bytes.
-- A tenant with a quota adds one document at a time, from here to the commit, so that no race exceeds it; without a quota
-- nothing is locked or counted. Deleting frees space at once. A restore, which has no tenant set, is not checked.
-- Locks: the tenant's quota (advisory), after the document's row. Raises PS020.
create or replace function accounts.check_quota(_tenant_id uuid, _documents integer, _bytes bigint)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant;
  v_max_documents bigint;
  v_max_bytes bigint;
  v_used record;
begin
  select * into v_tenant from accounts.tenant t where t.tenant_id = _tenant_id;
  if not found then
    return;
  end if;
  v_max_documents := accounts.quota_of(v_tenant, 'max_documents');
  v_max_bytes := accounts.quota_of(v_tenant, 'max_stored_bytes');
  if v_max_documents is null and v_max_bytes is null then
    return;
  end if;
  perform pg_advisory_xact_lock(hashtextextended(v_tenant.tenant_id::text, 7062));
  select count(*) as documents, coalesce(sum(d.size_bytes), 0) as bytes into v_used
  from ingest.document d where d.tenant_id = v_tenant.tenant_id and d.deleted_at is null;
  if _documents > 0 then
    perform accounts.refuse_over_quota('max_documents', 'documents', v_used.documents, v_max_documents);
  end if;
  if _bytes > 0 then
    perform accounts.refuse_over_quota('max_stored_bytes', 'bytes', v_used.bytes, v_max_bytes);
  end if;
end;
$$;
