-- Removes an intent, because its file is inserted in this transaction, and returns the path to write to. Until the transaction
-- ends, its lock keeps maintenance from abandoning the intent. Null when none was recorded (a worker of the last release).
-- Locks: the intent's row. Raises PS011 when maintenance has abandoned the intent, PS012.
create or replace function files.take_intent(_file_id uuid)
returns text
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_intent files.blob_intent;
begin
  delete from files.blob_intent i
  where i.tenant_id = internal.require_tenant() and i.file_id = _file_id
  returning * into v_intent;
  if v_intent.abandoned_at is not null then
    raise exception using errcode = 'PS011', detail = 'file_id',
      message = format('the intent to write file %s was abandoned at %s', _file_id, v_intent.abandoned_at),
      hint = 'Send the document again.';
  end if;
  return v_intent.blob_path;
end;
$$;
