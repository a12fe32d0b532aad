-- How many of the tenant's live documents match a filter: exact up to _most. Above that, or when a text had to be looked for in more
-- than _scan documents, `approximate` is true: the planner's estimate, or what the documents looked at let expect.
-- Volatile, because only such a function may explain. Raises PS005, PS012, PS013.
create or replace function ingest.count_documents(
  _filter jsonb default '{}', _most integer default 10000, _scan integer default 20000
)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_where text := ingest.document_where(_filter);
  v_text text := ingest.document_text_condition(_filter, 's');
  v_count bigint;
  v_seen bigint;
  v_whole bigint;
  v_plan json;
begin
  if v_text = '' then
    execute format('select count(*) from (select from ingest.document d where %s limit %s) s', v_where, _most + 1)
    into v_count;
    if v_count <= _most then
      return jsonb_build_object('total', v_count, 'approximate', false);
    end if;
    execute 'explain (format json) select from ingest.document d where ' || v_where into v_plan;
    return jsonb_build_object(
      'total', greatest(v_count, (v_plan -> 0 -> 'Plan' ->> 'Plan Rows')::bigint), 'approximate', true);
  end if;
  execute format(
    'select count(*) filter (where true %s), count(*) from (
       select d.title, d.filename, d.path, d.external_id from ingest.document d
       where %s order by d.document_id desc limit %s) s',
    v_text, v_where, _scan) into v_count, v_seen;
  if v_seen < _scan then
    return jsonb_build_object('total', v_count, 'approximate', false);
  end if;
  execute format('select count(*) from (select from ingest.document d where %s limit 1000000) s', v_where) into v_whole;
  return jsonb_build_object('total', (v_count * v_whole / v_seen), 'approximate', v_whole > v_seen);
end;
$$;
