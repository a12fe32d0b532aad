-- Removes items that no longer exist at the provider: their payloads, facts and documents. Returns how many there were.
-- Locks: the job's row, then the documents in the order of their ids. Raises PS006, PS012.
create or replace function ingest.remove_items(_job_id uuid, _run integer, _external_ids text[])
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job := ingest.hold_sync(_job_id, _run);
  v_document_ids uuid[];
  v_count integer;
begin
  perform ingest.drop_facts(v_job.source_id, _external_ids);
  with gone as (
    delete from ingest.source_document s
    where s.source_id = v_job.source_id and s.external_id = any (_external_ids)
    returning s.document_id
  )
  select count(*), array_agg(g.document_id order by g.document_id) into v_count, v_document_ids from gone g;
  perform ingest.delete_document(d.document_id)
  from ingest.document d
  where d.document_id = any (v_document_ids) and d.deleted_at is null;
  update ingest.ingestion_job j set items_removed = j.items_removed + v_count, updated_at = internal.clock()
  where j.job_id = _job_id;
  return v_count;
end;
$$;
