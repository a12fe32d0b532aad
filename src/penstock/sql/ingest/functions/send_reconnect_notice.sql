-- Sends one email to the tenant's contact: a source must be connected again. Once per incident: the email, its supervised process
-- and the note that it was sent are one transaction. Returns the message; null if there is nothing to tell (any more).
-- Locks: the incident's row, skipping a locked one. Raises PS005, PS012, PS017.
create or replace function ingest.send_reconnect_notice(_source_id uuid, _subject text, _body_text text)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant := ingest.open_tenant();
  v_opened_at timestamptz;
  v_message_id bigint;
begin
  select i.opened_at into v_opened_at from ingest.reconnect_incident i
  join ingest.source s on s.source_id = i.source_id and s.status = 'error' and s.removed_at is null
  where i.tenant_id = v_tenant.tenant_id and i.source_id = _source_id and i.closed_at is null and i.notified_at is null
  for update of i skip locked;
  if not found or v_tenant.contact_email is null then
    return null;
  end if;
  v_message_id := comms.create_email_message(
    _to_addresses => array[v_tenant.contact_email], _subject => _subject, _body_text => _body_text);
  perform comms.kickoff_send_email(v_message_id);
  update ingest.reconnect_incident i set notified_at = internal.clock(), email_message_id = v_message_id
  where i.source_id = _source_id and i.opened_at = v_opened_at;
  return v_message_id;
end;
$$;
