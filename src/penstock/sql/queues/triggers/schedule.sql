-- Pages that show schedules are told when one is declared, changed, switched, removed or has run.
create or replace trigger schedule_is_announced
after insert or update or delete on queues.schedule
for each statement execute function internal.announce_statement('schedules');
