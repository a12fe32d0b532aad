-- The S3 sources that read these objects of a bucket, of every tenant or of one: `position` counts from one. An object of a bucket
-- that is read, but not there, has a row without a source; an object of a bucket that nobody reads has none. With the events'
-- sequencers, a source is left out that looked at the object since: it has seen what the event tells of.
-- The caller read the objects' names in an event of the installation's own queue. Takes no locks. Raises nothing.
create or replace function all_tenants.sources_of_objects(
  _buckets text[], _keys text[], _tenant text default null, _sequencers text[] default null
)
returns table ("position" integer, tenant text, source_id uuid)
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select o.n::integer, case when r.is_read then r.slug end, case when r.is_read then r.source_id end
  from unnest(_buckets, _keys, _sequencers) with ordinality as o (bucket, key, sequencer, n)
  cross join lateral (
    select distinct on (i.is_read, case when i.is_read then i.source_id end) i.*
    from (
      select s.source_id, t.slug, starts_with(o.key, s.config ->> 'prefix') and ingest.is_newer_event(o.sequencer, (
        select d.sequencer from ingest.source_document d
        where d.source_id = s.source_id and d.external_id = 'objects/' || o.key)) as is_read
      from ingest.source s
      join accounts.tenant t on t.tenant_id = s.tenant_id and t.status = 'active'
      where s.kind = 's3' and s.removed_at is null and s.config ->> 'bucket' = o.bucket and (_tenant is null or t.slug = _tenant)
    ) i
    order by i.is_read, case when i.is_read then i.source_id end
  ) r
  order by o.n, r.is_read desc, r.source_id;
$$;
