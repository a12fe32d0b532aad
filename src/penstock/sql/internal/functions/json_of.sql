-- The JSON value that a text holds, or null where Postgres can't store it: not JSON, nested too deep, a NUL character, a
-- number out of range. One bad message must not fail the batch it came in.
create or replace function internal.json_of(_text text)
returns jsonb
language plpgsql
immutable
parallel unsafe
as $$
begin
  return _text::jsonb;
exception
  when data_exception or program_limit_exceeded then
    return null;
end;
$$;
