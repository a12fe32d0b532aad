-- Enforces quotas on every write of a document, whichever function writes it.
create or replace trigger document_added_within_quota
after insert on ingest.document
referencing new table as added
for each statement execute function ingest.documents_within_quota();

create or replace trigger document_grown_within_quota
after update of size_bytes on ingest.document
for each row when (new.size_bytes > old.size_bytes and new.deleted_at is null)
execute function ingest.document_within_quota();
