-- Writes chunks of a generation that is not live yet, in the caller's batches (500): rows, vectors, postings. Writing the same
-- batch again changes nothing. Lexemes come from the title, the headings and the text, read in the language of the document
-- (ingest.text_config_of); a word of the title or of a heading, above the chunk or inside it, counts as often as two of the text.
-- Without _embeddings the vectors are stored elsewhere (Qdrant). _headings: for each chunk the headings inside it, each as
-- [place of its first character in the document, "outer", …, "itself"].
-- Locks: the document's row, shared, so that erasing waits for the batch. Raises PS005, PS011, PS012, PS013.
create or replace function ingest.stage_chunks(
  _document_id uuid,
  _generation integer,
  _model text,
  _ordinals integer[],
  _chunk_ids uuid[],
  _texts text[],
  _token_counts integer[],
  _char_starts integer[],
  _char_ends integer[],
  _pages_from integer[],
  _pages_to integer[],
  _heading_paths jsonb,
  _sha256s bytea[],
  _embeddings text[] default null,
  _headings jsonb default null,
  _title text default null,
  _language text default null
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_tenant_id uuid := internal.require_tenant();
  v_document ingest.document;
  v_config text;
  v_staged integer[];
begin
  select * into v_document from ingest.document d
  where d.tenant_id = v_tenant_id and d.document_id = _document_id and d.deleted_at is null
  for share;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id),
      hint = 'It was deleted in the meantime; discard the work.';
  end if;
  if _generation = v_document.live_generation then
    raise exception using errcode = 'PS011', detail = 'generation',
      message = format('generation %s of document %s is live', _generation, _document_id),
      hint = 'Stage the next generation; search must never see half of one.';
  end if;
  select ingest.text_config_of(v_document.pipeline_config, _language, p.text_config) into v_config
  from accounts.project p where p.project_id = v_document.project_id;

  with given as (
    select g.ordinal, g.chunk_id, g.text, g.token_count, g.char_start, g.char_end, g.page_from, g.page_to, g.sha256,
      array(select jsonb_array_elements_text(_heading_paths -> (g.place::integer - 1))) as heading_path,
      coalesce(_headings -> (g.place::integer - 1), '[]') as headings
    from unnest(_ordinals, _chunk_ids, _texts, _token_counts, _char_starts, _char_ends, _pages_from, _pages_to, _sha256s)
      with ordinality
      as g (ordinal, chunk_id, text, token_count, char_start, char_end, page_from, page_to, sha256, place)
  ), titled as materialized (
    select g.*,
      concat_ws(
        ' ', case when not _title = any (g.heading_path) then _title end, array_to_string(g.heading_path, ' ')) as above_text,
      -- The text has them once already.
      (
        select string_agg(distinct p.heading, ' ')
        from jsonb_array_elements(g.headings) h
        cross join lateral jsonb_array_elements_text(h - 0) as p (heading)
        where not p.heading = any (g.heading_path) and p.heading is distinct from _title) as inside_text
    from given g
  ), read as materialized (
    select t.*, ingest.lexemes(v_config, t.text) as words,
      case when t.above_text = '' then '' else ingest.lexemes(v_config, t.above_text) end as above,
      case when t.inside_text is null then '' else ingest.lexemes(v_config, t.inside_text) end as inside
    from titled t
  ), measured as materialized (
    select r.*, r.words || r.above || r.above || r.inside as lexemes, least(65535, (
      select coalesce(sum(greatest(1, cardinality(l.positions))), 0)
      from (select w.positions from unnest(r.words) w union all select a.positions from unnest(r.above) a) l))::integer as text_length
    from read r
  ), put as (
    insert into ingest.chunk (
      tenant_id, document_id, generation, ordinal, chunk_id, project_id, text, token_count, text_length, char_start,
      char_end, page_from, page_to, heading_path, headings, embedding_model, embedding_text_sha256)
    select v_tenant_id, _document_id, _generation, m.ordinal, m.chunk_id, v_document.project_id, m.text, m.token_count,
      m.text_length, m.char_start, m.char_end, m.page_from, m.page_to, m.heading_path, m.headings, _model,
      m.sha256
    from measured m
    on conflict do nothing
    returning ordinal
  ), posted as (
    insert into ingest.posting (tenant_id, document_id, generation, lexeme, entries)
    select v_tenant_id, _document_id, _generation, l.lexeme,
      array_agg((m.ordinal::bigint << 32) | (greatest(1, cardinality(l.positions))::bigint << 16) | m.text_length)
    from put
    join measured m on m.ordinal = put.ordinal
    cross join lateral unnest(m.lexemes) l
    group by l.lexeme
  )
  select coalesce(array_agg(put.ordinal), '{}') into v_staged from put;

  if cardinality(v_staged) = 0 then
    return 0;
  end if;
  if _embeddings is not null then
    execute format(
      'insert into ingest.chunk_vector (tenant_id, project_id, document_id, generation, ordinal, model, embedding)
       select $1, $2, $3, $4, g.ordinal, $5, g.embedding::%s.halfvec
       from unnest($6, $7) as g (ordinal, embedding)
       where g.ordinal = any ($8)', ingest.require_vectors())
    using v_tenant_id, v_document.project_id, _document_id, _generation, _model, _ordinals, _embeddings, v_staged;
  end if;
  insert into ingest.text_move (tenant_id, chunks) values (v_tenant_id, cardinality(v_staged));
  if not exists (
    select from ingest.text_config_used u where u.tenant_id = v_tenant_id and u.text_config = v_config)
  then
    insert into ingest.text_config_used (tenant_id, text_config) values (v_tenant_id, v_config) on conflict do nothing;
  end if;
  return cardinality(v_staged);
end;
$$;
