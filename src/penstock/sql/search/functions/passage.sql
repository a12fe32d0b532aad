-- The chunks of a document from one to another as one passage: text that two of them share is in it once, text between them that
-- is in no chunk is a line break. The id is that of the chunk at _ordinal, the heading path that of the first. For search.find(), which
-- has checked whose document it is.
create or replace function search.passage(
  _document_id uuid, _generation integer, _ordinal integer, _from integer, _to integer,
  out chunk_id uuid, out text text, out heading_path text[], out headings jsonb,
  out page_from integer, out page_to integer, out char_start integer, out char_end integer
)
language plpgsql
stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_chunk ingest.chunk;
begin
  for v_chunk in
    select * from ingest.chunk c
    where c.document_id = _document_id and c.generation = _generation and c.ordinal between _from and _to
    order by c.ordinal
  loop
    if text is null then
      text := v_chunk.text;
      heading_path := v_chunk.heading_path;
      headings := v_chunk.headings;
      char_start := v_chunk.char_start;
      page_from := v_chunk.page_from;
      page_to := v_chunk.page_to;
      char_end := v_chunk.char_end;
    elsif v_chunk.char_end > char_end then
      text := text || case
        when v_chunk.char_start > char_end then E'\n\n' || v_chunk.text
        else right(v_chunk.text, v_chunk.char_end - char_end) end;
      headings := headings || coalesce((
        select jsonb_agg(h.heading order by h.place)
        from jsonb_array_elements(v_chunk.headings) with ordinality as h (heading, place)
        where (h.heading ->> 0)::integer >= char_end), '[]');
      page_from := least(page_from, v_chunk.page_from);
      page_to := greatest(page_to, v_chunk.page_to);
      char_end := v_chunk.char_end;
    end if;
    if v_chunk.ordinal = _ordinal then
      chunk_id := v_chunk.chunk_id;
    end if;
  end loop;
end;
$$;
