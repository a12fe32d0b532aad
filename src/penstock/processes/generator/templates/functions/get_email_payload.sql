-- Before handler of `email`: returns the message of an attempt in the form the email channel sends. Raises PS012.
create or replace function {{first_function}}(_payload jsonb)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_attempt_id bigint := internal.payload_id(_payload, '{{name}}_attempt_id');
  v_message comms.email_message;
begin
  if v_attempt_id is null then
    return internal.refusal('missing_attempt_id', '{{name}}_attempt_id must be the number of an attempt');
  end if;
  select m.* into v_message
  from {{schema}}.{{name}}_attempt a
  join {{schema}}.{{name}}_task t using ({{name}}_task_id)
  join comms.email_message m using (email_message_id)
  where a.tenant_id = internal.require_tenant() and a.{{name}}_attempt_id = v_attempt_id;
  if not found then
    return internal.refusal('attempt_not_found', format('there is no {{name}} attempt %s', v_attempt_id));
  end if;
  return jsonb_build_object('status', 'succeeded', 'payload',
    to_jsonb(v_message) - array['email_message_id', 'tenant_id', 'created_at']
    || jsonb_build_object('attachments', (
      select coalesce(jsonb_agg(jsonb_build_object(
          'filename', f.filename,
          'mime_type', f.mime_type,
          'content_base64', translate(encode(f.content, 'base64'), E'\n', '')) order by f.ordinal), '[]')
      from comms.email_attachment f
      where f.tenant_id = v_message.tenant_id and f.email_message_id = v_message.email_message_id)));
end;
$$;
