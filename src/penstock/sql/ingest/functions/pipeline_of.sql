-- What a document would be indexed with now, as one text: the code's version, the embedder, the project's settings and the
-- document's own. Equal texts give equal chunks and vectors.
create or replace function ingest.pipeline_of(
  _project accounts.project, _embedder text, _config jsonb, _code_version text
)
returns text
language sql
immutable
as $$
  select concat_ws('|', _code_version, _embedder,
    coalesce(_config ->> 'language', _project.text_config),
    coalesce(_config #>> '{chunking,strategy}', _project.chunk_strategy),
    coalesce(_config #>> '{chunking,size}', _project.chunk_tokens::text, 'auto'),
    coalesce(_config #>> '{chunking,overlap}', _project.chunk_overlap::text, 'auto'),
    coalesce(_config ->> 'parser', 'auto'));
$$;
