-- Removes up to _limit generations that are due and no longer live, of the given documents or of any, and returns how many.
-- It works in small steps, so that nothing waits long for its locks. A generation that is live again only loses its row in
-- ingest.sweep. A generation that a later one replaced loses its cached embeddings too; one that never went live leaves them
-- for the next attempt. Locks: the rows of ingest.sweep it takes, skipping locked ones, then the rows it deletes.
create or replace function all_tenants.sweep_generations(
  _limit integer default 100, _document_ids uuid[] default null, _generations integer[] default null
)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_order record;
  v_swept integer := 0;
  v_live integer;
begin
  for v_order in
    select s.tenant_id, s.document_id, s.generation from ingest.sweep s
    where s.due_at <= internal.clock()
      and (_document_ids is null
        or (s.document_id, s.generation) in (select * from unnest(_document_ids, _generations)))
    order by s.due_at
    limit _limit
    for update skip locked
  loop
    select d.live_generation into v_live from ingest.document d where d.document_id = v_order.document_id;
    if v_live = v_order.generation then
      delete from ingest.sweep s
      where s.document_id = v_order.document_id and s.generation = v_order.generation;
    else
      if v_live > v_order.generation then
        perform ingest.forget_texts(v_order.tenant_id, v_order.document_id, v_order.generation);
      end if;
      perform ingest.remove_generation(v_order.tenant_id, v_order.document_id, v_order.generation);
      v_swept := v_swept + 1;
    end if;
  end loop;
  return v_swept;
end;
$$;
