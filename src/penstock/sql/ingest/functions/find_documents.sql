-- The live documents that a name may refer to: those with one of these external ids or paths; if there are none, those whose
-- path ends in `_name`; if there are none, those whose file name or title is `_name`. Newest first. Raises PS012.
create or replace function ingest.find_documents(_exact text[], _name text, _limit integer default 10)
returns setof jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with named as (
    select d.document_id,
      case
        when d.external_id = any (_exact) or d.path = any (_exact) then 1
        when right(d.path, length(_name) + 1) = '/' || _name then 2
        when _name in (d.filename, d.title) then 3
      end as rank
    from ingest.document d
    where d.tenant_id = internal.require_tenant() and d.deleted_at is null
  )
  select ingest.document_row(d)
  from named n
  join ingest.document d using (document_id)
  where n.rank = (select min(b.rank) from named b)
  order by n.document_id desc
  limit _limit;
$$;
