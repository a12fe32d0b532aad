-- Writes what a sync decided about its items, in the transaction that writes them.
-- _dropped: an array of {external_id, message_id, name, skip_reason, score, reasons, sender, subject, filename, version}. _kept:
-- items that became documents; one that was dropped before is not any more, and one that a person restored is restored.
-- _failures as ingest.put_items() has them: what a person restored and could not be read is not tried for ever.
-- Locks: the job's row, the decisions by item. Raises PS006, PS012.
create or replace function ingest.put_decisions(
  _job_id uuid, _run integer, _stream text, _dropped jsonb, _kept text[] default '{}', _failures jsonb default '[]'
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_job ingest.ingestion_job := ingest.hold_sync(_job_id, _run);
begin
  insert into ingest.decision as d (
    decision_id, tenant_id, source_id, external_id, message_id, stage, verdict, name, skip_reason, score, reasons, sender,
    subject, filename, version, decided_at)
  select internal.uuid7(), v_job.tenant_id, v_job.source_id, g.external_id, g.message_id, 1, 'drop', g.name, g.skip_reason,
    g.score, coalesce(g.reasons, '[]'), g.sender, g.subject, g.filename, g.version, internal.clock()
  from jsonb_to_recordset(_dropped) as g (
    external_id text, message_id text, name text, skip_reason text, score double precision, reasons jsonb, sender text,
    subject text, filename text, version text)
  order by g.external_id
  on conflict (source_id, external_id) where stage = 1 do update set
    message_id = excluded.message_id, name = excluded.name, skip_reason = excluded.skip_reason, score = excluded.score,
    reasons = excluded.reasons, version = excluded.version, decided_at = excluded.decided_at
  where d.reversed_at is null;

  delete from ingest.decision d
  where d.source_id = v_job.source_id and d.stage = 1 and d.reversed_at is null and d.external_id = any (_kept);
  update ingest.decision d set
    outcome = 'restored',
    outcome_message = null,
    document_id = (
      select s.document_id from ingest.source_document s
      where s.source_id = d.source_id and s.external_id = d.external_id)
  where d.source_id = v_job.source_id and d.stage = 1 and d.reversed_at is not null
    and d.outcome is distinct from 'restored' and d.external_id = any (_kept);
  update ingest.decision d set outcome = left(f.code, 100), outcome_message = left(f.message, 500)
  from jsonb_to_recordset(_failures) as f (id text, code text, message text)
  where d.source_id = v_job.source_id and d.stage = 1 and d.reversed_at is not null and d.outcome is null
    and d.external_id = _stream || '/' || f.id;
end;
$$;
