-- Pages that show a source are told of its syncs: when one starts, gets on or ends.
create or replace trigger sync_is_announced
after insert or update on ingest.ingestion_job
for each row execute function internal.announce_row('source', 'source_id');
