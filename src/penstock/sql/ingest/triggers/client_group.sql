-- Pages that list clients are told when one is new, renamed, joined or gone.
create or replace trigger client_is_announced
after insert or update or delete on ingest.client_group
for each row execute function internal.announce_row('clients');
