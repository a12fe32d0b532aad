-- Creates a tenant and its project "default". Raises PS005, PS014.
create or replace function all_tenants.create_tenant(
  _tenant_id uuid,
  _project_id uuid,
  _slug text,
  _name text,
  _embedder text,
  _max_upload_bytes bigint default null,
  _requests_per_minute integer default null,
  _monthly_token_budget bigint default null,
  _max_documents bigint default null,
  _max_stored_bytes bigint default null,
  _max_keys bigint default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant;
begin
  perform accounts.check_slug(_slug);
  insert into accounts.tenant (
    tenant_id, slug, name, max_upload_bytes, requests_per_minute, monthly_token_budget, max_documents,
    max_stored_bytes, max_keys, created_at)
  values (
    _tenant_id, _slug, coalesce(nullif(_name, ''), _slug), _max_upload_bytes, _requests_per_minute,
    _monthly_token_budget, _max_documents, _max_stored_bytes, _max_keys, internal.clock())
  on conflict (slug) do nothing
  returning * into v_tenant;
  if v_tenant.tenant_id is null then
    raise exception using errcode = 'PS014', detail = 'slug',
      message = format('a tenant %L already exists', _slug),
      hint = 'Use it, or choose another slug: penstock tenant list';
  end if;
  insert into accounts.project (project_id, tenant_id, slug, name, embedder, created_at)
  values (_project_id, _tenant_id, 'default', 'default', _embedder, internal.clock());
  return accounts.tenant_row(v_tenant);
end;
$$;
