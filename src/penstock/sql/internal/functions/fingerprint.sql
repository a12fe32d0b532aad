-- Groups errors that differ only in ids, numbers, quoted values and addresses.
create or replace function internal.fingerprint(_task_type text, _error_code text, _error_message text)
returns text
language sql
immutable
parallel safe
as $$
  select substr(encode(sha256(convert_to(
    _task_type || chr(31) || coalesce(_error_code, '') || chr(31)
      || regexp_replace(
        split_part(left(coalesce(_error_message, ''), 2000), E'\n', 1),
        '"[^"]*"|''[^'']*''|0x[0-9a-fA-F]+|[0-9a-fA-F]{8}-[0-9a-fA-F-]{27}|[0-9a-fA-F]{16,}|[0-9]+',
        '#', 'g'),
    'UTF8')), 'hex'), 1, 12);
$$;
