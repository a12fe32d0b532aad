-- The headings of a chunk as they are shown: {start, path} each, in order. `start` is the place in the document's text.
create or replace function ingest.headings_as_json(_headings jsonb)
returns jsonb
language sql
immutable
parallel safe
as $$
  select coalesce(jsonb_agg(jsonb_build_object('start', h.heading -> 0, 'path', h.heading - 0) order by h.place), '[]')
  from jsonb_array_elements(_headings) with ordinality as h (heading, place);
$$;
