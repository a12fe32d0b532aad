-- The condition of a search on a document `d`, as text that contains the values, so that every search is planned for its own
-- values. Keys: staged (which search.shown_generation() reads), projects, sources, types, documents, created_after, created_before,
-- modified_after, modified_before, metadata. The dates are the document's own; without them, when it was taken in and last changed.
create or replace function search.document_filter(_filter jsonb)
returns text
language sql
stable
as $$
  select search.shown_generation(_filter) || ' > 0 and d.deleted_at is null' || coalesce(string_agg(format(
    ' and ' || c.condition,
    case when jsonb_typeof(f.value) = 'array'
      then array(select jsonb_array_elements_text(f.value))::text
      else f.value #>> '{}'
    end), '' order by f.key), '')
  from jsonb_each(_filter) f
  join (
    values
      ('projects', 'd.project_id = any (%L::uuid[])'),
      ('sources', 'd.source_id = any (%L::uuid[])'),
      ('types', 'd.mime_type = any (%L::text[])'),
      ('documents', 'd.document_id = any (%L::uuid[])'),
      ('created_after', 'coalesce(d.document_created_at, d.created_at) >= %L::timestamptz'),
      ('created_before', 'coalesce(d.document_created_at, d.created_at) < %L::timestamptz'),
      ('modified_after', 'coalesce(d.document_modified_at, d.updated_at) >= %L::timestamptz'),
      ('modified_before', 'coalesce(d.document_modified_at, d.updated_at) < %L::timestamptz'),
      ('metadata', 'd.metadata @> %L::jsonb')
  ) as c (key, condition) on c.key = f.key
  where jsonb_typeof(f.value) <> 'null';
$$;
