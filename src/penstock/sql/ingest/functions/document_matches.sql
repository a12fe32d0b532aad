-- Whether a text is part of a document's title, file name, path or external id, in any case.
create or replace function ingest.document_matches(
  _lowered text, _title text, _filename text, _path text, _external_id text
)
returns boolean
language sql
immutable
parallel safe
as $$
  select strpos(lower(concat_ws(chr(31), _title, _filename, _path, _external_id)), _lowered) > 0;
$$;
