-- The time that a text of ISO 8601 with its offset from UTC holds, such as 2026-11-18T09:30:00Z, or null where it holds none.
-- Without an offset it would depend on the session's time zone.
create or replace function internal.time_of(_text text)
returns timestamptz
language plpgsql
stable
parallel unsafe
as $$
begin
  if _text ~ '^[0-9]{4}-[0-9]{2}-[0-9]{2}[T ][0-9]{2}:[0-9]{2}(:[0-9]{2}([.][0-9]{1,9})?)?(Z|[+-][0-9]{2}(:?[0-9]{2})?)$' then
    return _text::timestamptz;
  end if;
  return null;
exception
  when data_exception then
    return null;
end;
$$;
