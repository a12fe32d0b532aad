-- The envelope of a call that failed and would fail again: a status, and a message for people.
create or replace function internal.refusal(_status text, _validation_failure_message text)
returns jsonb
language sql
immutable
parallel safe
as $$
  select jsonb_build_object('status', _status, 'validation_failure_message', _validation_failure_message);
$$;
