-- Whether a document is staged, as it is now, for its project's next embedder (without one, for its own), or never will be.
create or replace function ingest.is_staged(
  _document ingest.document, _project accounts.project, _code_version text
)
returns boolean
language sql
stable
as $$
  select _document.staged_pipeline is not null and _document.staged_sha256 is not distinct from _document.content_sha256
    and _document.staged_pipeline in (
      ingest.pipeline_of(
        _project, coalesce(_project.next_embedder, _project.embedder), _document.pipeline_config, _code_version),
      'failed ' || ingest.pipeline_of(
        _project, coalesce(_project.next_embedder, _project.embedder), _document.pipeline_config, _code_version));
$$;
