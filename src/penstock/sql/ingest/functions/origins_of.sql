-- Where a document came from, for its classifier: each origin's source with its settings, and what the rules said about the mail
-- (their decision, their score, and which of them applied); and which classes a person overruled for the same senders. Raises PS012.
create or replace function ingest.origins_of(_document_id uuid)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  with origin as (
    select i.source_id, s.kind, s.config ->> 'classifier' as classifier, s.config -> 'classes' as classes,
      i.source_metadata #>> '{verdict,decision}' as verdict, i.source_metadata #> '{verdict,score}' as rules_score,
      jsonb_path_query_array(i.source_metadata, '$.verdict.fired[*].rule') as rules,
      i.source_metadata ->> 'from' as sender, i.source_metadata ->> 'subject' as subject
    from ingest.ingestion i
    left join ingest.source s on s.source_id = i.source_id
    where i.tenant_id = internal.require_tenant() and i.document_id = _document_id
    order by i.created_at desc
    limit 100
  )
  select jsonb_build_object(
    'origins', (select coalesce(jsonb_agg(to_jsonb(o)), '[]') from origin o),
    'restored_classes', (
      select coalesce(jsonb_agg(distinct d.name), '[]')
      from ingest.decision d
      join origin o on o.source_id = d.source_id and o.sender = d.sender
      where d.tenant_id = internal.require_tenant() and d.stage = 2 and d.reversed_at is not null));
$$;
