-- A document's timeline, oldest first, also of a deleted document; `_after` is the last id of the previous page.
-- Raises PS012, PS013.
create or replace function ingest.list_events(_document_id uuid, _after bigint default 0, _limit integer default 100)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (
    select from ingest.document d where d.tenant_id = internal.require_tenant() and d.document_id = _document_id)
  then
    raise exception using errcode = 'PS013', detail = 'document_id',
      message = format('there is no document %s', _document_id), hint = 'Check the id.';
  end if;
  return query
  select to_jsonb(e) - 'tenant_id'
  from ingest.document_event e
  where e.document_id = _document_id and e.event_id > coalesce(_after, 0)
  order by e.event_id
  limit least(greatest(_limit, 1), 1001);
end;
$$;
