-- Calls a registered business function by its name and returns its envelope. Security invoker: besides being registered, the
-- function must be granted to the caller. Raises PS018, and whatever the function raises.
create or replace function internal.run_function(function_name text, payload jsonb)
returns jsonb
language plpgsql
security invoker
set search_path = pg_catalog, pg_temp
as $$
declare
  v_answer jsonb;
begin
  execute 'select ' || internal.business_call(function_name) || '($1)' into v_answer using payload;
  return v_answer;
end;
$$;
