-- The positive integer under a key of a payload, or null when it is missing or something else.
create or replace function internal.payload_id(_payload jsonb, _key text)
returns bigint
language sql
immutable
parallel safe
as $$
  select case when jsonb_typeof(_payload -> _key) = 'number' and (_payload ->> _key) ~ '^[1-9][0-9]{0,17}$'
    then (_payload ->> _key)::bigint end;
$$;
