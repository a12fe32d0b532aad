-- Pages that show projects are told when one is new, changed or gone.
create or replace trigger project_is_announced
after insert or update or delete on accounts.project
for each row execute function internal.announce_row('projects');
