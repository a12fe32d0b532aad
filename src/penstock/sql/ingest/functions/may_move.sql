-- The allowed changes of a document's status. A run goes through pending, processing, embedding, indexed; between attempts and
-- after a lost lease the document is pending again; a person or a change can send it back from an end; a re-index of its
-- project may index a failed one at once; every document can be deleted, once.
create or replace function ingest.may_move(_from ingest.document_status, _to ingest.document_status)
returns boolean
language sql
immutable
parallel safe
as $$
  select case _from
    when 'pending' then _to in ('processing', 'failed', 'deleted')
    when 'processing' then _to in ('pending', 'embedding', 'skipped', 'failed', 'deleted')
    when 'embedding' then _to in ('pending', 'indexed', 'failed', 'deleted')
    when 'indexed' then _to in ('pending', 'deleted')
    when 'skipped' then _to in ('pending', 'deleted')
    when 'failed' then _to in ('pending', 'indexed', 'deleted')
    else false
  end;
$$;
