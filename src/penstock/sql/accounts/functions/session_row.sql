-- A session as callers see it: without the hash that opens it.
create or replace function accounts.session_row(_session accounts.session)
returns jsonb
language sql
stable
as $$
  select to_jsonb(_session) - 'token_sha256' - 'tenant_id' - 'revoked_at' || jsonb_build_object(
    'tenant', (select t.slug from accounts.tenant t where t.tenant_id = _session.tenant_id), 'is_installation', false);
$$;
