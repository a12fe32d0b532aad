-- The where clause of a filter of documents, for the alias d. Only what is given becomes a condition, so that every combination
-- gets a plan of its own; all values are quoted. `q` is not among them: callers bound the rows whose text they look at.
-- Raises PS005 for a value that cannot match, PS012, PS013 for a project that is not there.
create or replace function ingest.document_where(_filter jsonb)
returns text
language plpgsql
stable
as $$
declare
  v_where text := format('d.tenant_id = %L::uuid and d.deleted_at is null', internal.require_tenant());
  v_values record;
  v_bad text;
begin
  perform ingest.refuse_filter(_filter,
    array['project', 'status', 'source_id', 'mime_type', 'reason', 'fingerprint', 'since', 'title', 'q', 'ids']);
  if _filter ? 'ids' then
    v_where := v_where || format(' and d.document_id = any (%L::uuid[])',
      array(select jsonb_array_elements_text(_filter -> 'ids')));
  end if;
  select * into v_values from ingest.filter_values(_filter ->> 'status');
  select s.value into v_bad from unnest(coalesce(v_values.wanted, '{}') || coalesce(v_values.unwanted, '{}')) as s (value)
  where not exists (
    select from unnest(enum_range(null::ingest.document_status)) as e (name) where e.name::text = s.value) limit 1;
  if found then
    raise exception using errcode = 'PS005', detail = 'status', message = format('%L is not a status of a document', v_bad),
      hint = 'Use pending, processing, embedding, indexed, skipped or failed; write ! before one to exclude it.';
  end if;
  v_where := v_where || ingest.filter_condition('d.status', 'ingest.document_status', v_values.wanted, v_values.unwanted);
  if cardinality(v_values.wanted) > 1 and v_values.wanted <@ array['pending', 'processing', 'embedding'] then
    v_where := v_where || ' and d.status in (''pending'', ''processing'', ''embedding'')';
  end if;
  select * into v_values from ingest.filter_values(_filter ->> 'project');
  v_where := v_where || ingest.filter_condition('d.project_id', 'uuid',
    case when v_values.wanted is not null then
      array(select (accounts.find_project(p.slug)).project_id::text from unnest(v_values.wanted) as p (slug)) end,
    case when v_values.unwanted is not null then
      array(select (accounts.find_project(p.slug)).project_id::text from unnest(v_values.unwanted) as p (slug)) end);
  select * into v_values from ingest.filter_values(_filter ->> 'source_id');
  select s.value into v_bad from unnest(coalesce(v_values.wanted, '{}') || coalesce(v_values.unwanted, '{}')) as s (value)
  where s.value !~ '^[0-9a-fA-F]{8}-([0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}$' limit 1;
  if found then
    raise exception using errcode = 'PS005', detail = 'source_id', message = format('%L is not the id of a source', v_bad),
      hint = 'List the sources: penstock source list';
  end if;
  v_where := v_where || ingest.filter_condition('d.source_id', 'uuid', v_values.wanted, v_values.unwanted);
  select * into v_values from ingest.filter_values(_filter ->> 'mime_type');
  v_where := v_where || ingest.filter_condition('d.mime_type', 'text', v_values.wanted, v_values.unwanted);
  select * into v_values from ingest.filter_values(_filter ->> 'reason');
  v_where := v_where || ingest.filter_condition('d.reason_code', 'text', v_values.wanted, v_values.unwanted);
  select * into v_values from ingest.filter_values(_filter ->> 'fingerprint');
  v_where := v_where || ingest.filter_condition('d.fingerprint', 'text', v_values.wanted, v_values.unwanted);
  if _filter ? 'since' then
    v_where := v_where || format(' and d.updated_at >= %L::timestamptz', _filter ->> 'since');
  end if;
  return v_where;
end;
$$;
