-- Writes the ingestions and the timeline of the records of a sync, announces those that ended, and enqueues those that the
-- queue has to index. Runs with the rights of its caller, which holds the documents' rows.
create or replace function ingest.note_records(_job_id uuid, _records ingest.record_to_index[])
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_job ingest.ingestion_job;
  v_ended uuid[];
  v_record ingest.record_to_index;
begin
  select * into v_job from ingest.ingestion_job j where j.job_id = _job_id;
  with opened as (
    insert into ingest.ingestion as i (
      ingestion_id, tenant_id, document_id, source_id, source_metadata, status, created, created_at, finished_at)
    select internal.uuid7(), v_job.tenant_id, r.document_id, v_job.source_id,
      jsonb_build_object('job_id', _job_id, 'external_id', r.external_id),
      case when r.is_direct then 'indexed' else 'queued' end::ingest.ingestion_status, r.is_new, v_now,
      case when r.is_direct then v_now end
    from unnest(_records) r where not r.is_same
    returning i.ingestion_id, i.document_id, i.finished_at
  ), noted as (
    insert into ingest.document_event (
      tenant_id, document_id, ingestion_id, at, event, from_status, to_status, detail)
    select v_job.tenant_id, r.document_id, o.ingestion_id, v_now,
      case when r.is_new then 'taken_in' else 'changed' end, case when not r.is_new then r.status end, r.status,
      jsonb_build_object('job_id', _job_id)
    from unnest(_records) r join opened o on o.document_id = r.document_id
  )
  select array_agg(o.ingestion_id) into v_ended from opened o where o.finished_at is not null;
  if exists (select from accounts.tenant t where t.tenant_id = v_job.tenant_id and t.webhook_url is not null) then
    perform ingest.announce(e) from unnest(v_ended) e;
  end if;
  foreach v_record in array coalesce(_records, '{}') loop
    if not v_record.is_direct and not v_record.is_same then
      if v_record.status in ('indexed', 'skipped', 'failed') then
        perform ingest.move_document(v_record.document_id, 'pending', 'changed');
      end if;
      perform ingest.enqueue_ingest(v_record.document_id);
    end if;
  end loop;
end;
$$;
