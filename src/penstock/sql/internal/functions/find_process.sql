-- The registered process with this name; the schema may be omitted if only one process has the name. Dynamic SQL over
-- processes is built from what this returns, never from what was asked. Raises PS013 for none, PS014 for several.
create or replace function internal.find_process(_name text)
returns internal.process
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_process internal.process;
  v_found text[];
begin
  select array_agg(p.process order by p.process) into v_found
  from internal.process p where _name in (p.process, split_part(p.process, '.', 2));
  if v_found is null then
    raise exception using errcode = 'PS013', detail = 'process',
      message = format('there is no process %L', left(_name, 140)),
      hint = format('The processes are %s.', coalesce(
        (select string_agg(p.process, ', ' order by p.process) from internal.process p), 'not registered yet'));
  end if;
  if cardinality(v_found) > 1 then
    raise exception using errcode = 'PS014', detail = 'process',
      message = format('%s processes are called %L', cardinality(v_found), _name),
      hint = format('Name one with its schema: %s.', array_to_string(v_found, ', '));
  end if;
  select * into v_process from internal.process p where p.process = v_found[1];
  return v_process;
end;
$$;
