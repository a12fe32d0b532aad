-- What each of these rows is recognised by now. A row that stands apart has only the keys of a person's decisions. A row without
-- a source says its domain or email itself, in key_facts. Runs with its caller's rights.
create or replace function ingest.client_keys(_client_ids uuid[])
returns table (client_id uuid, key text, origin text)
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  with row as materialized (
    select c.*
    from unnest(_client_ids) i (id)
    cross join lateral (
      select o.client_id, o.source_id, o.external_id, o.client_name, o.key_facts
      from ingest.client_intelligence o
      where o.client_id = i.id
      offset 0) c
  ), own as (
    select r.* from row r
    where not exists (select from ingest.client_apart a where a.client_id = r.client_id)
  ), stated as (
    select o.client_id, substr(f.name, 5) as origin, f.domain
    from own o
    cross join lateral (
      select c.name, lower(c.value #>> '{}') as domain
      from ingest.client_fact c
      where c.source_id = o.source_id and c.client_external_id = o.external_id and c.rollup = 'key'
      offset 0) f
    where f.name in ('key.domain', 'key.email_domain')
    union all
    select o.client_id, 'domain', lower(o.key_facts ->> 'domain') from own o where o.source_id is null
    union all
    select o.client_id, 'email_domain', lower(substring(o.key_facts ->> 'email' from '@([^@]+)$'))
    from own o where o.source_id is null
  )
  select distinct on (k.client_id, k.key) k.client_id, k.key, k.origin
  from (
    select s.client_id, 'domain:' || s.domain as key, s.origin
    from stated s
    where s.domain ~ '\.' and length(s.domain) <= 255 and not ingest.is_public_domain(s.domain)
    union all
    select n.client_id, 'name:' || n.name, 'name'
    from (select o.client_id, ingest.normal_name(o.client_name) as name from own o) n
    where n.name is not null
    union all
    select r.client_id, 'join:' || j.join_id::text, 'person'
    from row r
    join ingest.client_join j on j.client_id = r.client_id
    union all
    select r.client_id, 'join:' || j.join_id::text, 'person'
    from row r
    join ingest.client_join j on j.other_id = r.client_id
  ) k
  order by k.client_id, k.key, k.origin;
$$;
