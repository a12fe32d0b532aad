-- Rejects changes that name an unknown field, or set a required one to null. Raises PS005 naming the field.
create or replace function accounts.check_changes(_changes jsonb, _required text[], _optional text[])
returns void
language plpgsql
immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_field text;
begin
  select e.key into v_field from jsonb_each(_changes) e
  where e.key <> all (_required || _optional) order by e.key limit 1;
  if found then
    raise exception using errcode = 'PS005', detail = v_field,
      message = format('%L is not a field that can be changed', left(v_field, 80)),
      hint = format('Use %s.', array_to_string(_required || _optional, ', '));
  end if;
  select e.key into v_field from jsonb_each(_changes) e
  where e.key = any (_required) and (jsonb_typeof(e.value) <> 'string' or btrim(e.value #>> '{}') = '')
  order by e.key limit 1;
  if found then
    raise exception using errcode = 'PS005', detail = v_field,
      message = format('%s must not be empty', v_field),
      hint = format('Give %s a value, or omit it to keep the present one.', v_field);
  end if;
end;
$$;
