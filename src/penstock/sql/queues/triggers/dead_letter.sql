-- Pages that show dead letters are told when there is one more, or when some are gone.
create or replace trigger dead_letter_is_announced
after insert on queues.dead_letter
for each row execute function internal.announce_row('dead');

create or replace trigger dead_letters_gone_are_announced
after delete on queues.dead_letter
for each statement execute function internal.announce_statement('dead,tasks');
