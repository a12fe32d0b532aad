-- The SQL text that calls a registered business function, built from the registered name, quoted.
-- Raises PS018 for a name that is malformed or not registered, or that the session's user may not call.
create or replace function internal.business_call(_function_name text)
returns text
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_call text;
begin
  select format('%I.%I', split_part(b.function_name, '.', 1), split_part(b.function_name, '.', 2)) into v_call
  from internal.business_function b
  where b.function_name = _function_name
    and has_function_privilege(session_user, to_regprocedure(b.function_name || '(jsonb)'), 'execute');
  if v_call is not null then
    return v_call;
  end if;
  if _function_name is null or _function_name !~ '^[a-z_][a-z0-9_]{0,62}[.][a-z_][a-z0-9_]{0,62}$' then
    raise exception using errcode = 'PS018', detail = 'function_name',
      message = format('%L is not a function name', left(_function_name, 140)),
      hint = 'Write schema.function in lower case, as it is registered.';
  end if;
  if not exists (select from internal.business_function b where b.function_name = _function_name) then
    raise exception using errcode = 'PS018', detail = 'function_name',
      message = format('the function %s is not registered', _function_name),
      hint = 'Only supervisors and handlers of registered processes can be called by name: penstock process list';
  end if;
  raise exception using errcode = 'PS018', detail = 'function_name',
    message = format('the function %s is registered but cannot be called', _function_name),
    hint = 'Bring the database to the schema of this version: penstock migrate';
end;
$$;
