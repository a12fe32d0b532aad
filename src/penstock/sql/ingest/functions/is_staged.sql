-- Whether a document is staged for its project's next embedder, or never will be.
create or replace function ingest.is_staged(
  _document ingest.document, _project accounts.project, _code_version text
)
returns boolean
language sql
stable
as $$
  select _document.staged_pipeline is not null and _document.staged_pipeline in (
    ingest.pipeline_of(_project, _project.next_embedder, _document.pipeline_config, _code_version),
    'failed ' || ingest.pipeline_of(_project, _project.next_embedder, _document.pipeline_config, _code_version));
$$;
