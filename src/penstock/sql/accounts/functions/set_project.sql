-- Changes a project's settings; they apply to documents when they are next ingested or the project is re-indexed. The
-- embedder is changed by a re-index only (ingest.start_reindex). Raises PS005, PS012, PS013, PS017.
create or replace function accounts.set_project(_project text, _changes jsonb)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_project accounts.project := accounts.find_project(_project);
begin
  perform ingest.open_tenant();
  perform accounts.check_changes(
    _changes, array['name', 'text_config', 'chunk_strategy'], array['chunk_tokens', 'chunk_overlap']);
  if _changes ? 'text_config' then
    perform accounts.check_text_config(_changes ->> 'text_config');
  end if;
  update accounts.project p set
    name = case when _changes ? 'name' then _changes ->> 'name' else p.name end,
    text_config = case when _changes ? 'text_config' then _changes ->> 'text_config' else p.text_config end,
    chunk_strategy = case when _changes ? 'chunk_strategy' then _changes ->> 'chunk_strategy' else p.chunk_strategy end,
    chunk_tokens = case when _changes ? 'chunk_tokens' then (_changes ->> 'chunk_tokens')::integer
      else p.chunk_tokens end,
    chunk_overlap = case when _changes ? 'chunk_overlap' then (_changes ->> 'chunk_overlap')::integer
      else p.chunk_overlap end
  where p.project_id = v_project.project_id
  returning * into v_project;
  return accounts.project_row(v_project);
end;
$$;
