-- Creates a project of the tenant. Raises PS005, PS012, PS014, PS017.
create or replace function accounts.create_project(
  _project_id uuid,
  _slug text,
  _name text,
  _embedder text,
  _text_config text default 'english',
  _chunk_strategy text default 'structure',
  _chunk_tokens integer default null,
  _chunk_overlap integer default null
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project;
begin
  perform accounts.check_slug(_slug);
  perform accounts.check_text_config(_text_config);
  insert into accounts.project (
    project_id, tenant_id, slug, name, embedder, text_config, chunk_strategy, chunk_tokens, chunk_overlap, created_at)
  values (
    _project_id, (ingest.open_tenant()).tenant_id, _slug, coalesce(nullif(_name, ''), _slug), _embedder, _text_config,
    _chunk_strategy, _chunk_tokens, _chunk_overlap, internal.clock())
  on conflict (tenant_id, slug) where deleted_at is null do nothing
  returning * into v_project;
  if v_project.project_id is null then
    raise exception using errcode = 'PS014', detail = 'slug',
      message = format('a project %L already exists', _slug),
      hint = 'Use it, or choose another slug.';
  end if;
  return accounts.project_row(v_project);
end;
$$;
