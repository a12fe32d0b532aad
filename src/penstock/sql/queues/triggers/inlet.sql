-- Pages that show inlets are told when one is added, changed, paused, resumed or removed.
create or replace trigger inlet_is_announced
after insert or update on queues.inlet
for each statement execute function internal.announce_statement('inlets');
