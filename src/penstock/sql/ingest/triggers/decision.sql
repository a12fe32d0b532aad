-- Pages that show what was skipped are told when something was decided, reversed or forgotten.
create or replace trigger decision_is_announced
after insert or update or delete on ingest.decision
for each row execute function internal.announce_row('decisions');
