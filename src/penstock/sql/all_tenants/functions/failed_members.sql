-- The failed documents of one group, newest first; `_after` is the place of the last row of the previous page. A tenant sees
-- its own. Raises PS005, PS012.
create or replace function all_tenants.failed_members(_fingerprint text, _after text default null, _limit integer default 50)
returns table (document_id uuid, name text, error_message text, failed_at timestamptz, place text)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
set plan_cache_mode = force_custom_plan
as $$
declare
  v_tenant_id uuid := internal.scope();
  v_time timestamptz;
  v_document_id uuid;
begin
  if _after is not null then
    if _after !~ '^[0-9]{1,18}[.][0-9a-f-]{36}$' then
      raise exception using errcode = 'PS005', detail = 'cursor',
        message = 'this is not the cursor of a page of failures', hint = 'Use the cursor of the previous page, or none.';
    end if;
    v_time := timestamptz 'epoch' + split_part(_after, '.', 1)::bigint * interval '1 microsecond';
    v_document_id := split_part(_after, '.', 2)::uuid;
  end if;
  return query
  select d.document_id, coalesce(d.title, d.filename, d.external_id, d.document_id::text), left(d.error_message, 2000),
    d.updated_at, (extract(epoch from d.updated_at) * 1000000)::bigint || '.' || d.document_id
  from ingest.document d
  where (v_tenant_id is null or d.tenant_id = v_tenant_id) and d.status = 'failed' and d.deleted_at is null
    and d.fingerprint = _fingerprint
    and (_after is null or (d.updated_at, d.document_id) < (v_time, v_document_id))
  order by d.updated_at desc, d.document_id desc
  limit _limit;
end;
$$;
