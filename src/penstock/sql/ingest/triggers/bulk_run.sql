-- Pages that show re-indexes are told when one starts, waits or ends.
create or replace trigger bulk_run_is_announced
after insert or update on ingest.bulk_run
for each row execute function internal.announce_row('operations');
