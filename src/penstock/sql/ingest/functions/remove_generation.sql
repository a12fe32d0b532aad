-- Deletes the rows of one generation, or with null of all generations of a document: chunks, vectors, postings and its row in
-- ingest.sweep. Runs with the rights of its caller (a tenant's function, or one of all_tenants), which has made sure that it is
-- not live. Locks: the rows it deletes.
create or replace function ingest.remove_generation(_tenant_id uuid, _document_id uuid, _generation integer)
returns integer
language plpgsql
as $$
declare
  v_removed integer;
begin
  delete from ingest.posting p
  where p.tenant_id = _tenant_id and p.document_id = _document_id
    and (_generation is null or p.generation = _generation);
  if to_regclass('ingest.chunk_vector') is not null then
    delete from ingest.chunk_vector v
    where v.tenant_id = _tenant_id and v.document_id = _document_id
      and (_generation is null or v.generation = _generation);
  end if;
  delete from ingest.chunk c
  where c.tenant_id = _tenant_id and c.document_id = _document_id
    and (_generation is null or c.generation = _generation);
  get diagnostics v_removed = row_count;
  delete from ingest.sweep s
  where s.tenant_id = _tenant_id and s.document_id = _document_id
    and (_generation is null or s.generation = _generation);
  if v_removed > 0 then
    insert into ingest.text_move (tenant_id, chunks) values (_tenant_id, v_removed);
  end if;
  return v_removed;
end;
$$;
