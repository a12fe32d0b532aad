-- Pages that show inlets are told of each batch of messages.
create or replace trigger inlet_count_is_announced
after insert on queues.inlet_count
for each statement execute function internal.announce_statement('inlets');
