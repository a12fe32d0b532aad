-- Pages that show queues are told when one is new, paused, resumed or limited.
create or replace trigger queue_is_announced
after insert or update on queues.queue
for each statement execute function internal.announce_statement('queues');
