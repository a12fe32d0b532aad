-- Whether an envelope, of either shape, reports success. Same rules as the worker's own reader: an answer that says yes and no
-- at once is not an envelope. Raises PS019 for an answer that is not an envelope.
create or replace function internal.succeeded(_answer jsonb)
returns boolean
language plpgsql
immutable
parallel safe
as $$
declare
  v_status jsonb := nullif(_answer -> 'status', 'null');
  v_success jsonb := nullif(_answer -> 'success', 'null');
  v_succeeded boolean;
  v_fault text;
begin
  if jsonb_typeof(_answer) is distinct from 'object' then
    v_fault := 'it is not an object';
  elsif coalesce(v_status, v_success) is null then
    v_fault := 'status is missing, and so is success';
  elsif jsonb_typeof(v_status) <> 'string' or v_status = '""' then
    v_fault := 'status is not a word';
  elsif jsonb_typeof(v_success) <> 'boolean' then
    v_fault := 'success is not true or false';
  elsif (v_status = '"succeeded"') <> v_success::boolean then
    v_fault := 'status and success contradict each other';
  elsif jsonb_typeof(_answer -> 'error') not in ('string', 'null') then
    v_fault := 'error is not a text';
  elsif jsonb_typeof(_answer -> 'validation_failure_message') not in ('string', 'null') then
    v_fault := 'validation_failure_message is not a text';
  elsif jsonb_typeof(_answer -> 'payload') not in ('object', 'null') then
    v_fault := 'payload is not an object';
  else
    v_succeeded := coalesce(v_success::boolean, v_status = '"succeeded"');
    if v_succeeded and concat(_answer ->> 'error', _answer ->> 'validation_failure_message') <> '' then
      v_fault := 'an error is set on a success';
    end if;
  end if;
  if v_fault is not null then
    raise exception using errcode = 'PS019', detail = 'answer',
      message = 'the answer is not an envelope: ' || v_fault,
      hint = 'Answer {"status": "succeeded", "payload": {}} or {"success": true, "payload": {}}.';
  end if;
  return v_succeeded;
end;
$$;
