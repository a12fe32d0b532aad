-- Writes what the classifier decided about a document, in the transaction of its run; a decision that a person reversed stays.
-- _decision: {verdict, name, skip_reason, score, reasons, version}. The caller holds the document's row.
create or replace function ingest.put_class(_document ingest.document, _decision jsonb)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  insert into ingest.decision as d (
    decision_id, tenant_id, source_id, external_id, document_id, stage, verdict, name, skip_reason, score, reasons, sender,
    subject, filename, version, decided_at)
  select internal.uuid7(), _document.tenant_id, coalesce(_document.source_id, i.source_id), i.source_metadata ->> 'external_id',
    _document.document_id, 2, g.verdict, g.name, g.skip_reason, g.score, coalesce(g.reasons, '[]'),
    i.source_metadata ->> 'from', i.source_metadata ->> 'subject',
    coalesce(i.source_metadata ->> 'attachment_filename', _document.filename), g.version, internal.clock()
  from jsonb_to_record(_decision) as g (
    verdict text, name text, skip_reason text, score double precision, reasons jsonb, version text)
  left join lateral (
    select n.source_id, n.source_metadata from ingest.ingestion n
    where n.document_id = _document.document_id and n.tenant_id = _document.tenant_id
    order by (n.source_id is not distinct from _document.source_id) desc, n.created_at desc
    limit 1) i on true
  on conflict (document_id) where stage = 2 do update set
    verdict = excluded.verdict, name = excluded.name, skip_reason = excluded.skip_reason, score = excluded.score,
    reasons = excluded.reasons, sender = excluded.sender, subject = excluded.subject, filename = excluded.filename,
    version = excluded.version, decided_at = excluded.decided_at
  where d.reversed_at is null;
$$;
