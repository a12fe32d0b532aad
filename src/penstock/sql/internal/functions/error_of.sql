-- The error that an error handler was given, as it is stored: the message for people if there is one, else the error.
create or replace function internal.error_of(_payload jsonb)
returns text
language sql
immutable
parallel safe
as $$
  select left(coalesce(
    nullif(_payload ->> 'validation_failure_message', ''), nullif(_payload ->> 'error', ''), 'no reason was given'), 8000);
$$;
