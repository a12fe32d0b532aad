-- Operators' pages are told when a worker starts, stops or is lost; not at its heartbeats.
create or replace trigger worker_is_announced
after insert or update of stopped_at, lost_at on queues.worker
for each statement execute function internal.announce_statement('workers', 'operators');
