-- What a tenant has of everything that quotas count: live documents, the bytes of their originals, and valid keys; each with
-- its limit, null for none.
create or replace function accounts.holdings_of(_tenant accounts.tenant)
returns jsonb
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'documents', jsonb_build_object('used', d.documents, 'limit', accounts.quota_of(_tenant, 'max_documents')),
    'stored_bytes', jsonb_build_object('used', d.bytes, 'limit', accounts.quota_of(_tenant, 'max_stored_bytes')),
    'keys', jsonb_build_object(
      'used', (
        select count(*) from accounts.api_key k
        where k.tenant_id = _tenant.tenant_id and k.revoked_at is null
          and (k.expires_at is null or k.expires_at > internal.clock())),
      'limit', accounts.quota_of(_tenant, 'max_keys')))
  from (
    select count(*) as documents, coalesce(sum(o.size_bytes), 0)::bigint as bytes from ingest.document o
    where o.tenant_id = _tenant.tenant_id and o.deleted_at is null) d;
$$;
