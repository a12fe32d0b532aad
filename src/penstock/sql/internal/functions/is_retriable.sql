-- Whether the error that an error handler was given may go away with a retry.
create or replace function internal.is_retriable(_payload jsonb)
returns boolean
language sql
immutable
parallel safe
as $$
  select nullif(_payload ->> 'validation_failure_message', '') is null
    and coalesce(_payload -> 'retriable', 'true') is distinct from 'false';
$$;
