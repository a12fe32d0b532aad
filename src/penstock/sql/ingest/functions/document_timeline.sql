-- What happened to a document: its newest 500 events, oldest first, the attempts of its tasks, and what its result was made with.
-- Also of a deleted document. Raises PS012, PS013.
create or replace function ingest.document_timeline(_document_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_document ingest.document;
  v_events jsonb;
begin
  select * into v_document from ingest.document d
  where d.tenant_id = internal.require_tenant() and d.document_id = _document_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id), hint = 'Check the id.';
  end if;
  select coalesce(jsonb_agg(to_jsonb(e) - 'tenant_id' order by e.event_id), '[]') into v_events
  from (
    select * from ingest.document_event o where o.document_id = _document_id order by o.event_id desc limit 500) e;
  return jsonb_build_object(
    'status', v_document.status,
    'now', internal.clock(),
    'parser', v_document.parser,
    'pipeline', v_document.indexed_pipeline,
    'events', v_events,
    'attempts', (
      select coalesce(jsonb_agg(to_jsonb(a)), '[]')
      from queues.attempts_of(array(
        select distinct (e.value #>> '{detail,task_id}')::bigint from jsonb_array_elements(v_events) as e (value)
        where e.value #>> '{detail,task_id}' is not null
        union
        select v_document.task_id where v_document.task_id is not null), v_document.tenant_id) a));
end;
$$;
