-- One operation that the caller may see. Runs with its caller's rights. Raises PS013.
create or replace function ingest.one_operation(_operation_id uuid)
returns jsonb
language plpgsql
as $$
declare
  v_operation ingest.operation;
begin
  select * into v_operation from ingest.operation o where o.operation_id = _operation_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'operation_id', message = format('there is no operation %s', _operation_id),
      hint = 'List the operations: penstock operation list. They are kept for 30 days.';
  end if;
  return ingest.operation_row(v_operation);
end;
$$;
