-- SQL for the texts of a filter of documents, for an alias with the columns they are in; empty without one. `q` is looked for in
-- title, file name, path and external id, `title` in the first two; after a ! the document must not contain it.
create or replace function ingest.document_text_condition(_filter jsonb, _alias text)
returns text
language sql
immutable
parallel safe
as $$
  select
    case when _filter ->> 'q' <> '' then format(
      ' and %s ingest.document_matches(%L, %3$s.title, %3$s.filename, %3$s.path, %3$s.external_id)',
      case when _filter ->> 'q' like '!_%' then 'not' else '' end,
      lower(regexp_replace(_filter ->> 'q', '^!(?=.)', '')), _alias) else '' end
    || case when _filter ->> 'title' <> '' then format(
      ' and ingest.document_matches(%L, %2$s.title, %2$s.filename, null, null)', lower(_filter ->> 'title'), _alias)
    else '' end;
$$;
