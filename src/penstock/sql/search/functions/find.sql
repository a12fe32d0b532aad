-- One search over chunks and clients: by vector, by text, or both fused by reciprocal rank (k = 60), with the parts of every
-- score. The query is given as text and as one vector per model in use; ranks are within a model, so that scores of two models
-- are never compared. An index outside the database passes its hits by vector in _near and by text in _matched. Stable: all
-- parts see one snapshot, so during a re-index a search shows one version of a document, never two.
-- `coverage` is the share of the query's words that a hit contains, weighted by how rare they are; null when the query has no
-- words. In a snippet U+E000 opens and U+E001 closes a match. Raises PS005, PS012.
create or replace function search.find(
  _query text,
  _mode text,
  _limit integer,
  _filter jsonb,
  _models text[],
  _vectors text[],
  _include_clients boolean default true,
  _near jsonb default null,
  _matched jsonb default null
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
  path text
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_tenant_id uuid := internal.require_tenant();
  v_depth integer := greatest(100, 2 * _limit);
  v_document_ids uuid[];
  v_generations integer[];
  v_marks tsquery;
  v_configs text[];
  v_lexemes text[];
  v_weights double precision[];
begin
  if _mode not in ('hybrid', 'vector', 'text') then
    raise exception using errcode = 'PS005', detail = 'mode',
      message = format('%L is not a search mode', _mode),
      hint = 'Use hybrid, vector or text.';
  end if;
  select c.document_ids, c.generations into v_document_ids, v_generations from search.candidate_documents(_filter) c;
  select search.lexeme_query(array_agg(distinct l.lexeme)) into v_marks
  from ingest.text_config_used u
  cross join lateral unnest(to_tsvector(u.text_config::regconfig, _query)) l
  where u.tenant_id = v_tenant_id;

  select array_agg(t.text_config), array_agg(t.lexeme), array_agg(t.weight) into v_configs, v_lexemes, v_weights
  from search.term_weights(_query) t;

  return query
    with near as (
      select 'chunk' as kind, n.document_id as id, n.generation, n.ordinal, n.model, n.score
      from search.nearest(_models, _vectors, _filter, v_depth, v_document_ids, v_generations) n
      where _mode <> 'text' and _near is null
      union all
      select 'chunk', n.document_id, n.generation, n.ordinal, n.model, n.score
      from search.live_hits(_near, _filter) n
      where _mode <> 'text' and _near is not null
      union all
      select 'client', n.client_id, 0, 0, n.model, n.score
      from search.nearest_clients(_models, _vectors, _filter, v_depth) n
      where _mode <> 'text' and _include_clients
    ), matched as (
      select 'chunk' as kind, m.document_id as id, m.generation, m.ordinal, m.score
      from search.bm25(_query, _filter, v_depth, v_document_ids, v_generations) m
      where _mode <> 'vector' and _matched is null
      union all
      select 'chunk', m.document_id, m.generation, m.ordinal, m.score
      from search.live_hits(_matched, _filter) m
      where _mode <> 'vector' and _matched is not null
      union all
      select 'client', m.client_id, 0, 0, m.score
      from search.bm25_clients(_query, _filter, v_depth) m
      where _mode <> 'vector' and _include_clients
    ), ranked as (
      select n.kind, n.id, n.generation, n.ordinal, n.model, n.score as vector_score, null::float8 as text_score,
        row_number() over (partition by n.model order by n.score desc, n.id, n.ordinal) as vector_rank,
        null::bigint as text_rank
      from near n
      union all
      select m.kind, m.id, m.generation, m.ordinal, null, null, m.score, null,
        row_number() over (order by m.score desc, m.id, m.ordinal)
      from matched m
    ), fused as (
      select r.kind, r.id, r.generation, r.ordinal, max(r.model) as model,
        max(r.vector_score) as vector_score, max(r.vector_rank)::integer as vector_rank,
        max(r.text_score) as text_score, max(r.text_rank)::integer as text_rank,
        case _mode
          when 'vector' then max(r.vector_score)
          when 'text' then max(r.text_score)
          else sum(1 / (60::float8 + coalesce(r.vector_rank, r.text_rank)))
        end as score
      from ranked r
      group by r.kind, r.id, r.generation, r.ordinal
    ), top as materialized (
      select f.* from fused f
      order by f.score desc, f.vector_score desc nulls last, f.id, f.ordinal
      limit _limit
    ), found as materialized (
      select t.*, d.document_id, null::uuid as client_id, d.project_id, d.source_id, c.chunk_id, d.title, d.filename,
        d.mime_type, d.author, d.language, d.document_created_at, d.document_modified_at, c.heading_path, c.page_from, c.page_to, c.text,
        d.path
      from top t
      join ingest.document d on d.document_id = t.id
      join ingest.chunk c on c.document_id = t.id and c.generation = t.generation and c.ordinal = t.ordinal
      where t.kind = 'chunk'
      union all
      select t.*, null, c.client_id, c.project_id, c.source_id, null, c.client_name, null, null, null, null, null,
        null, '{}', null, null,
        concat_ws(E'\n', c.industry, c.summary, (
          select string_agg(f.key || ': ' || f.value, E'\n' order by f.key) from jsonb_each_text(c.key_facts) f)),
        null
      from top t
      join ingest.client_intelligence c on c.client_id = t.id
      where t.kind = 'client'
    )
    select f.kind, f.document_id, f.client_id, f.project_id, f.source_id, f.chunk_id,
      case f.kind when 'chunk' then f.ordinal end, f.title, f.filename, f.mime_type, f.author, f.language,
      f.document_created_at, f.document_modified_at, f.heading_path, f.page_from, f.page_to, f.text,
      ts_headline(
        p.text_config::regconfig, translate(f.text, U&'\E000\E001', ''), coalesce(v_marks, ''::tsquery),
        U&'StartSel="\E000", StopSel="\E001", MaxFragments=2, MaxWords=30, MinWords=12, FragmentDelimiter=" … "'),
      f.model, f.score, f.vector_score, f.vector_rank, f.text_score, f.text_rank, c.coverage, f.path
    from found f
    join accounts.project p on p.project_id = f.project_id
    cross join lateral (
      select sum(t.weight * (t.lexeme = any (h.lexemes))::integer) as coverage
      from (
        select tsvector_to_array(to_tsvector(
          p.text_config::regconfig, concat_ws(' ', f.title, array_to_string(f.heading_path, ' '), f.text))) as lexemes
      ) h
      cross join unnest(v_configs, v_lexemes, v_weights) as t (text_config, lexeme, weight)
      where t.text_config = p.text_config
    ) c
    order by f.score desc, f.vector_score desc nulls last, f.id, f.ordinal;
end;
$$;
