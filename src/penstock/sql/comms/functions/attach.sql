-- Attaches files to a message: an array of {filename, mime_type, content_base64}. Raises PS005, PS012.
create or replace function comms.attach(_email_message_id bigint, _attachments jsonb)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if jsonb_typeof(_attachments) is distinct from 'array' then
    raise not_null_violation;
  end if;
  insert into comms.email_attachment (email_message_id, ordinal, tenant_id, filename, mime_type, content)
  select _email_message_id, a.ordinal, internal.require_tenant(), nullif(a.file ->> 'filename', ''),
    coalesce(a.file ->> 'mime_type', 'application/octet-stream'), decode(a.file ->> 'content_base64', 'base64')
  from jsonb_array_elements(_attachments) with ordinality as a (file, ordinal);
exception
  when not_null_violation or invalid_parameter_value then
    raise exception using errcode = 'PS005', detail = 'attachments',
      message = 'an attachment needs a file name, and its content in base64',
      hint = 'Give an array of {"filename", "mime_type", "content_base64"}.';
end;
$$;
