-- A page of the tenant's live documents that match a filter, in an order: newest, oldest or updated. `next` is where the next page
-- begins, null on the last. With `q` (or `title`) at most _scan documents are looked at, so a page may hold fewer than _limit and
-- still have a next one: no search through many documents takes long. Raises PS005, PS012, PS013.
create or replace function ingest.page_documents(
  _filter jsonb default '{}',
  _sort text default 'newest',
  _after_id uuid default null,
  _after_at timestamptz default null,
  _limit integer default 50,
  _scan integer default 20000
)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_where text := ingest.document_where(_filter);
  v_limit integer := least(greatest(_limit, 1), 1000);
  v_order text;
  v_text text;
  v_ids uuid[];
  v_last_id uuid;
  v_last_at timestamptz;
begin
  case _sort
    when 'newest' then
      v_order := 'd.document_id desc';
      v_where := v_where || case when _after_id is not null then format(' and d.document_id < %L::uuid', _after_id) else '' end;
    when 'oldest' then
      v_order := 'd.document_id';
      v_where := v_where || case when _after_id is not null then format(' and d.document_id > %L::uuid', _after_id) else '' end;
    when 'updated' then
      v_order := 'd.updated_at desc, d.document_id desc';
      if _after_id is not null and _after_at is not null then
        v_where := v_where || format(
          ' and (d.updated_at, d.document_id) < (%L::timestamptz, %L::uuid)', _after_at, _after_id);
      end if;
    else
      raise exception using errcode = 'PS005', detail = 'sort', message = format('%L is not an order of documents', _sort),
        hint = 'Use newest, oldest or updated.';
  end case;
  v_text := ingest.document_text_condition(_filter, 's');
  if v_text = '' then
    execute format('select array(select d.document_id from ingest.document d where %s order by %s limit %s)',
      v_where, v_order, v_limit + 1) into v_ids;
  else
    execute format(
      'select array(select s.document_id from (
         select d.document_id, d.title, d.filename, d.path, d.external_id from ingest.document d
         where %s order by %s limit %s) s where true %s limit %s)',
      v_where, v_order, _scan, v_text, v_limit + 1) into v_ids;
    if cardinality(v_ids) <= v_limit then
      execute format('select d.document_id, d.updated_at from ingest.document d where %s order by %s offset %s limit 1',
        v_where, v_order, _scan - 1) into v_last_id, v_last_at;
    end if;
  end if;
  if cardinality(v_ids) > v_limit then
    v_ids := v_ids[1:v_limit];
    select d.document_id, d.updated_at into v_last_id, v_last_at from ingest.document d where d.document_id = v_ids[v_limit];
  end if;
  return jsonb_build_object(
    'items', (
      select coalesce(jsonb_agg(ingest.document_row(d) order by i.n), '[]')
      from unnest(v_ids) with ordinality as i (document_id, n)
      join ingest.document d using (document_id)),
    'next', case when v_last_id is not null then jsonb_build_object('id', v_last_id, 'at', v_last_at) end);
end;
$$;
