-- The name of a pgmq queue's table ('q') or archive ('a'), quoted for dynamic SQL: pgmq may be absent, and nothing of ours
-- may refer to it before it is called.
create or replace function internal.pgmq_table(_queue text, _prefix text)
returns text
language sql
immutable
parallel safe
as $$
  select format('pgmq.%I', lower(_prefix || '_' || _queue));
$$;
