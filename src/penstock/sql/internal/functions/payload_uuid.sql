-- The UUID under a key of a payload, or null when it is missing or anything else.
create or replace function internal.payload_uuid(_payload jsonb, _key text)
returns uuid
language sql
immutable
parallel safe
as $$
  select case when jsonb_typeof(_payload -> _key) = 'string'
      and (_payload ->> _key) ~* '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
    then (_payload ->> _key)::uuid end;
$$;
