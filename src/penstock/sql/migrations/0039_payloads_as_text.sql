-- A large payload is kept as the text that a worker gets: turning half a megabyte of jsonb into text was two thirds of what claiming it
-- cost the server. A task has either of the two. Partitions created later inherit the column and its storage.
alter table queues.task
  add column large_payload json,
  alter column payload drop not null,
  add constraint payload_is_given_once check (num_nonnulls(payload, large_payload) = 1) not valid;
alter table queues.task alter column large_payload set storage external;

alter table queues.task_kept
  add column large_payload json,
  alter column payload drop not null,
  add constraint payload_is_given_once check (num_nonnulls(payload, large_payload) = 1) not valid;
