-- Pages that offer saved views are told when one is new, changed or gone.
create or replace trigger view_is_announced
after insert or update or delete on accounts.saved_view
for each row execute function internal.announce_row('views');
