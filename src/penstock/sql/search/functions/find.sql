-- One search over chunks and clients: by vector, by text, or both, with the parts of every score. Both are fused by their scores:
-- nearness from the farthest to the nearest found, words relative to the best match, weighted by search.vector_weight(); for a document
-- in a language that no model reads (search.reads_language), words alone. With _corrected (a model got the query with its misspelt
-- words replaced by the likeliest) nearness counts half: the correction may be wrong, and words look for several. What contains an
-- identifier of the query, whole and literally, in its text or in its document's title, file name or path, comes first; a dash counts
-- as a hyphen. The query is given as text and as one vector per model in use; ranks and nearness are within a model, so that scores of
-- two models are never compared. An index outside the database passes its hits by vector in _near and by text in _matched. At most
-- _per_document passages of a document are found while others match; the first of a document has the document's score: its nearest and
-- its best matching passage together. Stable: all parts see one snapshot, so during a re-index a search shows one version of a
-- document, never two. `coverage` is the share of the query's words that a hit contains, weighted by how rare they are; null when the
-- query has no words. With _joined a passage includes the passages before and after it that match at least half as well, and those are
-- not listed again: ordinal_from to ordinal_to, and char_start to char_end of the document's text. In a snippet U+E000 opens and U+E001
-- closes a match. Raises PS005, PS012.
create or replace function search.find(
  _query text,
  _mode text,
  _limit integer,
  _filter jsonb,
  _models text[],
  _vectors text[],
  _include_clients boolean default true,
  _near jsonb default null,
  _matched jsonb default null,
  _per_document integer default 1,
  _joined boolean default false,
  _corrected boolean default false
)
returns table (
  kind text,
  document_id uuid,
  client_id uuid,
  project_id uuid,
  source_id uuid,
  chunk_id uuid,
  ordinal integer,
  title text,
  filename text,
  mime_type text,
  author text,
  language text,
  document_created_at timestamptz,
  document_modified_at timestamptz,
  heading_path text[],
  page_from integer,
  page_to integer,
  text text,
  snippet text,
  model text,
  score double precision,
  vector_score double precision,
  vector_rank integer,
  text_score double precision,
  text_rank integer,
  coverage double precision,
  path text,
  headings jsonb,
  ordinal_from integer,
  ordinal_to integer,
  char_start integer,
  char_end integer
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
-- Planning this statement takes as long as ranking; what depends on the values is planned by the functions it calls.
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_marks tsquery;
  v_configs text[];
  v_lexemes text[];
  v_weights double precision[];
  v_words text[];
  v_shares double precision[];
  v_added boolean[];
  v_identifiers text[] := case when _mode = 'vector' then '{}'::text[] else search.identifiers(_query) end;
  -- These patterns know the dashes of search.with_hyphens: to replace them in every text took as long as the rest of the search.
  v_dashed text[] := array(
    select replace(regexp_replace(i.word, '([^[:alnum:]])', '\\\1', 'g'), '\-', '[-\u2010-\u2013\u2212]')
    from unnest(v_identifiers) with ordinality as i (word, place)
    order by i.place);
  -- The longest part between hyphens, without which no text needs to be compared with a pattern.
  v_parts text[] := array(
    select (select p.part from unnest(string_to_array(i.word, '-')) as p (part) order by length(p.part) desc limit 1)
    from unnest(v_identifiers) with ordinality as i (word, place)
    order by i.place);
begin
  if _mode not in ('hybrid', 'vector', 'text') then
    raise exception using errcode = 'PS005', detail = 'mode',
      message = format('%L is not a search mode', _mode),
      hint = 'Use hybrid, vector or text.';
  end if;
  select array_agg(w.text_config), array_agg(w.lexeme), array_agg(w.share), array_agg(w.is_added)
  into v_configs, v_words, v_shares, v_added
  from search.query_words(_query) w;
  select array_agg(t.text_config), array_agg(t.lexeme), array_agg(t.weight), search.lexeme_query(array_agg(distinct t.lexeme))
  into v_configs, v_lexemes, v_weights, v_marks
  from search.term_weights(_query, v_configs, v_words, v_shares, v_added) t;

  return query
    with gathered as materialized (
      select g.* from search.gathered(
        _query, _mode, _limit, _filter, _models, _vectors, _include_clients, _near, _matched, _per_document,
        v_words, v_shares) g
    ), weighed as materialized (
      -- The model that carries least decides: scores of one search are comparable. Of a few passages none can stand out.
      select coalesce(min(search.vector_weight(s.model, s.standout)), 0.5) * case when _corrected then 0.5 else 1 end as weight
      from (
        select n.model, case when count(*) >= 50 then (max(n.score) - avg(n.score)) / nullif(stddev_pop(n.score), 0) end as standout
        from gathered n
        where n.is_near
        group by n.model
      ) s
    ), ranked as (
      select n.kind, n.id, n.generation, n.ordinal, n.model, n.score as vector_score, null::float8 as text_score,
        row_number() over (partition by n.model order by n.score desc, n.id, n.ordinal) as vector_rank,
        null::bigint as text_rank,
        coalesce(
          (n.score - min(n.score) over (partition by n.model))
          / nullif(max(n.score) over (partition by n.model) - min(n.score) over (partition by n.model), 0), 1) as near_part,
        0::float8 as text_part
      from gathered n
      where n.is_near
      union all
      select m.kind, m.id, m.generation, m.ordinal, null, null, m.score, null,
        row_number() over (order by m.score desc, m.id, m.ordinal), 0, coalesce(m.score / nullif(max(m.score) over (), 0), 0)
      from gathered m
      where not m.is_near
    ), fused as (
      select r.kind, r.id, r.generation, r.ordinal, max(r.model) as model,
        max(r.vector_score) as vector_score, max(r.vector_rank)::integer as vector_rank,
        max(r.text_score) as text_score, max(r.text_rank)::integer as text_rank,
        max(r.near_part) as near_part, max(r.text_part) as text_part
      from ranked r
      group by r.kind, r.id, r.generation, r.ordinal
    ), language as materialized (
      -- Few, and asked about once each: there are hundreds of passages.
      select d.document_id as id, coalesce(d.pipeline_config ->> 'language', d.language, p.text_config) as name
      from (select distinct f.id from fused f where _mode = 'hybrid' and f.kind = 'chunk') f
      join ingest.document d on d.document_id = f.id
      join accounts.project p on p.project_id = d.project_id
    ), unread as materialized (
      select l.id
      from (
        select n.name
        from (select distinct l.name from language l offset 0) n  -- or it would be asked about every passage
        where not search.reads_language(_models, n.name)
      ) n
      join language l on l.name = n.name
    ), label as materialized (
      select d.document_id as id, lower(concat_ws(E'\n', d.title, d.filename, d.path)) as lowered
      from (select distinct f.id from fused f where cardinality(v_identifiers) > 0 and f.kind = 'chunk') f
      join ingest.document d on d.document_id = f.id
    ), named as (
      select f.*, case when cardinality(v_identifiers) > 0 and f.kind = 'chunk' then (
        -- Whole: INV-100 is not in INV-1001.
        select avg((
          (position(i.word in c.lowered) > 0
            or position(i.part in c.lowered) > 0 and octet_length(c.lowered) > length(c.lowered) and c.lowered ~ i.dashed)
          and c.lowered ~ ('(?<![[:alnum:]])' || i.dashed || '(?![[:alnum:]])'))::integer)::float8
        from (
          select concat_ws(E'\n', lower(t.text), b.lowered) as lowered from ingest.chunk t
          where t.document_id = f.id and t.generation = f.generation and t.ordinal = f.ordinal
          offset 0  -- or the text would be read again for each use
        ) c
        cross join unnest(v_identifiers, v_parts, v_dashed) as i (word, part, dashed)) else 0 end as exact,
        case when u.id is null then w.weight else 0 end as weight
      from fused f
      cross join weighed w
      left join unread u on f.kind = 'chunk' and u.id = f.id
      left join label b on f.kind = 'chunk' and b.id = f.id
    ), scored as (
      select n.*, case _mode
          when 'vector' then n.vector_score
          when 'text' then n.text_score * (1 + n.exact)
          else n.weight * n.near_part + (1 - n.weight) * n.text_part + n.exact / 2
        end as own_score,
        n.weight * max(n.near_part) over (partition by n.kind, n.id)
          + (1 - n.weight) * max(n.text_part) over (partition by n.kind, n.id)
          + max(n.exact) over (partition by n.kind, n.id) / 2 as document_score,
        -- Only passages of one document are compared by it.
        w.weight * n.near_part + (1 - w.weight) * n.text_part + n.exact as strength
      from named n
      cross join weighed w
    ), placed as (
      select s.*, row_number() over (
        partition by s.kind, s.id order by s.own_score desc, s.text_rank nulls last, s.vector_score desc nulls last, s.ordinal) as place
      from scored s
    ), run as (
      select p.*, p.ordinal - row_number() over (partition by p.kind, p.id order by p.ordinal) as start
      from placed p
    ), neighboured as (
      select r.*, first_value(r.ordinal) over best_first as best,
        abs(r.ordinal - first_value(r.ordinal) over best_first) = 1
        and 2 * r.strength >= first_value(r.strength) over best_first as is_neighbour
      from run r
      window best_first as (partition by r.kind, r.id, r.start order by r.place)
    ), joined as (
      select n.*,
        min(n.ordinal) filter (where n.is_neighbour or n.ordinal = n.best) over (partition by n.kind, n.id, n.start) as first_ordinal,
        max(n.ordinal) filter (where n.is_neighbour or n.ordinal = n.best) over (partition by n.kind, n.id, n.start) as last_ordinal,
        row_number() over (partition by n.kind, n.id, _joined and n.is_neighbour order by n.place) as shown
      from neighboured n
    ), top as materialized (
      select p.*, p.shown > _per_document as is_further,
        case when _mode = 'hybrid' and p.place = 1 then p.document_score else p.own_score end as score,
        case when _joined and p.ordinal = p.best then p.first_ordinal else p.ordinal end as ordinal_from,
        case when _joined and p.ordinal = p.best then p.last_ordinal else p.ordinal end as ordinal_to
      from joined p
      where not (_joined and p.is_neighbour)
      order by is_further, score desc, p.text_rank nulls last, p.vector_score desc nulls last, p.id, p.ordinal
      limit _limit
    ), found as materialized (
      select t.*, d.document_id, null::uuid as client_id, d.project_id, d.source_id, c.chunk_id, d.title, d.filename,
        d.mime_type, d.author, d.language, d.document_created_at, d.document_modified_at, c.heading_path, c.page_from, c.page_to, c.text,
        d.path, c.headings, c.char_start, c.char_end,
        ingest.text_config_of(d.pipeline_config, d.language, p.text_config) as own_config, p.text_config
      from top t
      join ingest.document d on d.document_id = t.id
      join accounts.project p on p.project_id = d.project_id
      cross join lateral search.passage(t.id, t.generation, t.ordinal, t.ordinal_from, t.ordinal_to) c
      where t.kind = 'chunk'
      union all
      select t.*, null, c.client_id, c.project_id, c.source_id, null, c.client_name, null, null, null, null, null,
        null, '{}', null, null,
        concat_ws(E'\n', c.industry, c.summary, (
          select string_agg(f.key || ': ' || f.value, E'\n' order by f.key) from jsonb_each_text(c.key_facts) f)),
        null, '[]', null, null, p.text_config, p.text_config
      from top t
      join ingest.client_intelligence c on c.client_id = t.id
      join accounts.project p on p.project_id = c.project_id
      where t.kind = 'client'
    )
    select f.kind, f.document_id, f.client_id, f.project_id, f.source_id, f.chunk_id,
      case f.kind when 'chunk' then f.ordinal end, f.title, f.filename, f.mime_type, f.author, f.language,
      f.document_created_at, f.document_modified_at, f.heading_path, f.page_from, f.page_to, f.text,
      search.snippet(l.config, f.text, v_marks),
      f.model, f.score, f.vector_score, f.vector_rank, f.text_score, f.text_rank, c.coverage, f.path,
      ingest.headings_as_json(f.headings),
      case f.kind when 'chunk' then f.ordinal_from end, case f.kind when 'chunk' then f.ordinal_to end, f.char_start, f.char_end
    from found f
    -- Documents that were indexed before their language was asked for have their project's.
    cross join lateral (select case when f.own_config = any (v_configs) then f.own_config else f.text_config end as config) l
    cross join lateral (
      select sum(t.weight * (h.lexemes && array[t.lexeme, search.other_sign(t.lexeme)])::integer) as coverage
      from (
        select tsvector_to_array(ingest.lexemes(
          l.config, concat_ws(' ', f.title, array_to_string(f.heading_path, ' '), f.text))) as lexemes
        offset 0  -- or the text would be read again for each word of the query
      ) h
      cross join unnest(v_configs, v_lexemes, v_weights) as t (text_config, lexeme, weight)
      where t.text_config = l.config
    ) c
    order by f.is_further, f.score desc, f.text_rank nulls last, f.vector_score desc nulls last, f.id, f.ordinal;
end;
$$;
