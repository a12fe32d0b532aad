-- Pages that show what waits at a gate are told when it was evaluated or decided.
create or replace trigger gate_evaluation_is_announced
after insert or update on ingest.gate_evaluation
for each row execute function internal.announce_row('operations');
