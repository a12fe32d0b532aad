-- The envelope of a call that cannot be served, and never can be as it is: a status, and words for people.
create or replace function internal.refusal(_status text, _validation_failure_message text)
returns jsonb
language sql
immutable
parallel safe
as $$
  select jsonb_build_object('status', _status, 'validation_failure_message', _validation_failure_message);
$$;
