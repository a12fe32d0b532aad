-- A message of pgmq with the columns that every version of it has. A type, because a function can't have a parameter and a
-- column of its result both named vt, as the wrappers of pgmq have them.
create type queues.pgmq_message as (
  msg_id bigint,
  read_ct integer,
  enqueued_at timestamptz,
  vt timestamptz,
  message jsonb
);
