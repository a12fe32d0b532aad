-- Pages that show a source are told when it changes.
create or replace trigger source_is_announced
after insert or update or delete on ingest.source
for each row execute function internal.announce_row('source', 'source_id');
