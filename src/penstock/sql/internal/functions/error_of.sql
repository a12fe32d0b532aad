-- What an error handler was told, as it is kept: the words for people where there are some, else the error.
create or replace function internal.error_of(_payload jsonb)
returns text
language sql
immutable
parallel safe
as $$
  select left(coalesce(
    nullif(_payload ->> 'validation_failure_message', ''), nullif(_payload ->> 'error', ''), 'no reason was given'), 8000);
$$;
