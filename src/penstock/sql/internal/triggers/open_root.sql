-- Pages that show processes are told when one starts, is checked or ends.
create or replace trigger process_is_announced
after insert or update or delete on internal.open_root
for each row execute function internal.announce_row('processes');
