-- Pages that show a re-index are told of its progress: each document that was staged or failed.
create or replace trigger bulk_document_is_announced
after update of outcome on ingest.bulk_document
for each row execute function internal.announce_row('operations');
