-- Pages that show an operation are told when it starts, gets on or ends.
create or replace trigger operation_is_announced
after insert or update on ingest.operation
for each row execute function internal.announce_row('operation', 'operation_id');
