-- The tenant's clients in an order: name or updated, with a minus from the end. Each is one or more rows of
-- ingest.client_intelligence. `_query` is part of the client's name or of a name in one of its sources. `_after_name`
-- (`_after_at` when ordered by updated) and `_after_id` are name_key, updated_at and id of the last one of the previous page.
-- Call ingest.group_clients() first. Raises PS005, PS012.
create or replace function ingest.list_clients(
  _query text default null,
  _after_name text default null,
  _after_id uuid default null,
  _limit integer default 50,
  _sort text default 'name',
  _after_at timestamptz default null
)
returns setof jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_way text := case when starts_with(_sort, '-') then 'desc' else 'asc' end;
  v_past text := case when starts_with(_sort, '-') then '<' else '>' end;
  v_by text;
  v_after text;
begin
  case _sort
    when 'name', '-name' then
      v_by := 'g.name_key';
      v_after := '$3';
    when 'updated', '-updated' then
      v_by := 'g.updated_at';
      v_after := '$6';
    else
      raise exception using errcode = 'PS005', detail = 'sort', message = format('%L is not an order of clients', left(_sort, 80)),
        hint = 'Use name, -name, updated or -updated.';
  end case;
  return query execute format(
    'select jsonb_build_object(
       ''client_id'', g.group_id,
       ''name'', g.client_name,
       ''name_key'', g.name_key,
       ''industry'', g.industry,
       ''record_count'', g.record_count,
       ''sources'', (
         select coalesce(jsonb_agg(distinct coalesce(s.kind, ''manual'') order by coalesce(s.kind, ''manual'')), ''[]'')
         from ingest.client_member m
         join ingest.client_intelligence c on c.client_id = m.client_id
         left join ingest.source s on s.source_id = c.source_id
         where m.tenant_id = g.tenant_id and m.group_id = g.group_id),
       ''updated_at'', g.updated_at)
     from ingest.client_group g
     where g.tenant_id = $1
       and (%1$s is null or (%2$s, g.group_id) %3$s (%1$s, $4))
       and ($2 is null or strpos(g.name_key, lower($2)) > 0 or exists (
         select from ingest.client_member m
         join ingest.client_intelligence c on c.client_id = m.client_id
         where m.tenant_id = g.tenant_id and m.group_id = g.group_id and strpos(lower(c.client_name), lower($2)) > 0))
     order by %2$s %4$s, g.group_id %4$s
     limit $5', v_after, v_by, v_past, v_way)
  using internal.require_tenant(), _query, _after_name, _after_id, least(greatest(_limit, 1), 1001), _after_at;
end;
$$;
