-- A tenant's quota: its own figure, or the default from its caller's settings (penstock.max_…, set for the transaction). Null
-- means no limit.
create or replace function accounts.quota_of(_tenant accounts.tenant, _quota text)
returns bigint
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select nullif(coalesce(
    case _quota
      when 'max_documents' then _tenant.max_documents
      when 'max_stored_bytes' then _tenant.max_stored_bytes
      when 'max_keys' then _tenant.max_keys
    end,
    nullif(current_setting('penstock.' || _quota, true), '')::bigint), 0);
$$;
