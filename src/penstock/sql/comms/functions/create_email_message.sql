-- Stores an email to be sent; payloads of tasks carry only its id. Attachments are an array of {filename, mime_type,
-- content_base64}. Returns its id. Raises PS005, PS012, PS017.
create or replace function comms.create_email_message(
  _to_addresses text[],
  _subject text,
  _body_text text default null,
  _body_html text default null,
  _from_address text default null,
  _cc_addresses text[] default '{}',
  _bcc_addresses text[] default '{}',
  _reply_to text default null,
  _attachments jsonb default '[]'
)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant := ingest.open_tenant();
  v_address text;
  v_id bigint;
begin
  if coalesce(cardinality(_to_addresses), 0) = 0 then
    raise exception using errcode = 'PS005', detail = 'to_addresses',
      message = 'a message needs a recipient', hint = 'Give at least one address.';
  end if;
  if _subject is null or _subject ~ '[\r\n]' then
    raise exception using errcode = 'PS005', detail = 'subject',
      message = 'a subject must be one line of text', hint = 'Give a subject without line breaks.';
  end if;
  if coalesce(nullif(_body_text, ''), nullif(_body_html, '')) is null then
    raise exception using errcode = 'PS005', detail = 'body_text',
      message = 'a message needs a body', hint = 'Give body_text, body_html or both.';
  end if;
  foreach v_address in array
    _to_addresses || _cc_addresses || _bcc_addresses || array_remove(array[_from_address, _reply_to], null)
  loop
    if v_address is null or v_address !~ '^[^\s@<>]+@[^\s@<>]+$' and v_address !~ '^[^\r\n<>]*<[^\s@<>]+@[^\s@<>]+>$' then
      raise exception using errcode = 'PS005', detail = 'address',
        message = format('%L is not an email address', left(v_address, 320)),
        hint = 'Write name@example.org, or Name <name@example.org>.';
    end if;
  end loop;
  insert into comms.email_message (
    tenant_id, from_address, to_addresses, cc_addresses, bcc_addresses, reply_to, subject, body_text, body_html,
    message_id, created_at)
  values (
    v_tenant.tenant_id, _from_address, _to_addresses, coalesce(_cc_addresses, '{}'), coalesce(_bcc_addresses, '{}'),
    _reply_to, _subject, nullif(_body_text, ''), nullif(_body_html, ''),
    format('<%s@penstock.invalid>', internal.uuid7()), internal.clock())
  returning email_message_id into v_id;
  if coalesce(_attachments, '[]') <> '[]' then
    perform comms.attach(v_id, _attachments);
  end if;
  return v_id;
end;
$$;
