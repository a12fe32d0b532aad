-- Raises PS005 for a filter with a key that this list does not have: a mistyped one would match everything.
create or replace function ingest.refuse_filter(_filter jsonb, _known text[])
returns void
language plpgsql
immutable
parallel safe
as $$
declare
  v_key text;
begin
  if jsonb_typeof(_filter) is distinct from 'object' then
    raise exception using errcode = 'PS005', detail = 'filter', message = 'the filter is not an object',
      hint = 'Send an object such as {"status": "failed"}.';
  end if;
  select k.key into v_key from jsonb_object_keys(_filter) as k (key) where k.key <> all (_known) limit 1;
  if found then
    raise exception using errcode = 'PS005', detail = 'filter.' || v_key,
      message = format('the filter has no %L', v_key), hint = 'Use ' || array_to_string(_known, ', ') || '.';
  end if;
end;
$$;
