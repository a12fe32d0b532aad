-- Pages that show inlets are told when another process reads one, and when its reading goes differently; not at each renewal,
-- which is an insert that updates, so that only a trigger by row can tell them apart.
create or replace trigger inlet_holder_is_announced
after insert or delete on queues.inlet_hold
for each row execute function internal.announce_statement('inlets');

create or replace trigger inlet_reading_is_announced
after update on queues.inlet_hold
for each row when (
  (old.holder, old.backlog, old.lag, old.error) is distinct from (new.holder, new.backlog, new.lag, new.error))
execute function internal.announce_statement('inlets');
