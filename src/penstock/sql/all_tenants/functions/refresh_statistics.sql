-- Counts lexemes and lengths again for tenants of which a tenth of the chunks changed since the last count, those with the most
-- changes first, up to _limit tenants, and returns how many. Lexemes that are in one chunk only are not stored: an unknown
-- lexeme counts as one. Only changed counts are written. Locks: one advisory lock per tenant; a tenant that is being counted
-- is skipped.
create or replace function all_tenants.refresh_statistics(_limit integer default 10)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
set work_mem = '64MB'
as $$
declare
  v_tenant_id uuid;
  v_counted integer := 0;
begin
  for v_tenant_id in
    select m.tenant_id
    from (select t.tenant_id, sum(t.chunks) as chunks from ingest.text_move t group by t.tenant_id) m
    left join ingest.text_statistics s on s.tenant_id = m.tenant_id
    where s.tenant_id is null or m.chunks * 10 >= s.chunk_count
    order by m.chunks desc
    limit _limit
  loop
    continue when not pg_try_advisory_xact_lock(hashtextextended('count ' || v_tenant_id::text, 0));
    delete from ingest.text_move t where t.tenant_id = v_tenant_id;
    continue when not found;  -- counted by another call, or erased, since the tenants were chosen

    with counted as materialized (
      select p.lexeme, sum(cardinality(p.entries))::integer as df
      from ingest.posting p
      join ingest.document d on d.document_id = p.document_id and d.live_generation = p.generation
      where p.tenant_id = v_tenant_id
      group by p.lexeme
      having sum(cardinality(p.entries)) > 1
    ), put as (
      insert into ingest.lexeme_count as l (tenant_id, lexeme, df)
      select v_tenant_id, c.lexeme, c.df from counted c
      on conflict (tenant_id, lexeme) do update set df = excluded.df where l.df <> excluded.df
    )
    delete from ingest.lexeme_count l
    where l.tenant_id = v_tenant_id
      and not exists (select from counted c where c.lexeme = l.lexeme);

    -- Over thousands of documents the average length hardly changes: a sample is enough.
    insert into ingest.text_statistics (tenant_id, chunk_count, average_length, counted_at)
    select v_tenant_id,
      (select coalesce(sum(d.chunk_count), 0) from ingest.document d
        where d.tenant_id = v_tenant_id and d.live_generation > 0),
      (select coalesce(avg(c.text_length), 0)
        from (
          select d.document_id, d.live_generation from ingest.document d
          where d.tenant_id = v_tenant_id and d.live_generation > 0
          order by hashtext(d.document_id::text) limit 500) d
        join ingest.chunk c on c.document_id = d.document_id and c.generation = d.live_generation),
      internal.clock()
    on conflict (tenant_id) do update
    set chunk_count = excluded.chunk_count, average_length = excluded.average_length, counted_at = excluded.counted_at;
    v_counted := v_counted + 1;
  end loop;
  return v_counted;
end;
$$;
