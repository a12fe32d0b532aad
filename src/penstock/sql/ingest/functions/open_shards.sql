-- Shards of a run that are not closed, those nobody holds first, with the seconds for which the others are still held. For drivers
-- that give out shards themselves. Empty when the run has ended. Raises PS012.
create or replace function ingest.open_shards(
  _run_id uuid, _except integer[] default '{}', _limit integer default 100, out shard integer, out held_seconds double precision
)
returns setof record
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select s.shard, greatest(0, extract(epoch from s.lease_until - internal.clock()))::double precision
    from ingest.bulk_shard s
    join ingest.bulk_run r on r.run_id = s.run_id
    where r.tenant_id = internal.require_tenant() and r.run_id = _run_id and r.finished_at is null and s.closed_at is null
      and s.shard <> all (_except)
    order by coalesce(s.lease_until, '-infinity') > internal.clock(), s.shard
    limit _limit;
end;
$$;
