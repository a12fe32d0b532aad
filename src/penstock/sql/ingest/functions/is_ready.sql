-- Whether a re-index that publishes all documents at once has nothing left to do for this one: it is staged, or, if the embedder
-- stays, it was indexed since the re-index began with the same settings.
create or replace function ingest.is_ready(
  _document ingest.document, _project accounts.project, _run ingest.bulk_run, _code_version text
)
returns boolean
language sql
stable
as $$
  select ingest.is_staged(_document, _project, _code_version)
    or _run.holds and not _run.switches and _document.status = 'indexed' and _document.indexed_at >= _run.started_at
      and _document.indexed_sha256 is not distinct from _document.content_sha256
      and _document.indexed_pipeline = ingest.pipeline_of(
        _project, _project.embedder, _document.pipeline_config, _code_version);
$$;
