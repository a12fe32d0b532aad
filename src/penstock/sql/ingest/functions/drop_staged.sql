-- Gives up what is staged for a project and the switch to its next embedder: its documents stay as searches find them, and the
-- staged generations are removed within the hour. Returns how many were staged. Runs with its caller's rights. Locks: the
-- project's row, then documents'.
create or replace function ingest.drop_staged(_project_id uuid)
returns integer
language plpgsql
as $$
declare
  v_count integer;
begin
  update accounts.project p set next_embedder = null where p.project_id = _project_id;
  with dropped as (
    update ingest.document d set
      staged_generation = null, staged_pipeline = null, staged_sha256 = null, staged_chunks = null, staged_tokens = null,
      staged_facts = null
    from ingest.document o
    where o.document_id = d.document_id and d.project_id = _project_id and d.staged_pipeline is not null
    returning d.tenant_id, d.document_id, o.staged_generation
  )
  insert into ingest.sweep (tenant_id, document_id, generation, due_at)
  select x.tenant_id, x.document_id, x.staged_generation, internal.clock() from dropped x where x.staged_generation is not null
  on conflict do nothing;
  get diagnostics v_count = row_count;
  return v_count;
end;
$$;
