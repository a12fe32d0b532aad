-- Items of a stream that the full pass which just ended did not see: they no longer exist at the provider. Raises PS012.
create or replace function ingest.unseen_items(_source_id uuid, _stream text, _limit integer default 500)
returns setof text
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select d.external_id from ingest.source_document d
  join ingest.source_stream s on s.source_id = d.source_id and s.stream = d.stream
  where d.tenant_id = internal.require_tenant() and d.source_id = _source_id and d.stream = _stream and d.pass < s.pass
  limit _limit;
$$;
