-- Whether what an error handler was told may be mended by trying again.
create or replace function internal.is_retriable(_payload jsonb)
returns boolean
language sql
immutable
parallel safe
as $$
  select nullif(_payload ->> 'validation_failure_message', '') is null
    and coalesce(_payload -> 'retriable', 'true') is distinct from 'false';
$$;
