-- Stores a text message to be sent; payloads of tasks carry only its id. Numbers are in international form. Returns its id.
-- Raises PS005, PS012, PS017.
create or replace function comms.create_sms_message(_to_number text, _body text, _from_number text default null)
returns bigint
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant accounts.tenant := ingest.open_tenant();
  v_id bigint;
begin
  if _to_number is null or _to_number !~ '^\+[1-9][0-9]{4,14}$' then
    raise exception using errcode = 'PS005', detail = 'to_number',
      message = format('%L is not a telephone number', left(_to_number, 40)),
      hint = 'Write it in international form, for example +4930123456.';
  end if;
  if coalesce(_body, '') = '' or length(_body) > 1600 then
    raise exception using errcode = 'PS005', detail = 'body',
      message = 'a text message must have 1 to 1600 characters', hint = 'Shorten the text, or send an email.';
  end if;
  insert into comms.sms_message (tenant_id, from_number, to_number, body, created_at)
  values (v_tenant.tenant_id, _from_number, _to_number, _body, internal.clock())
  returning sms_message_id into v_id;
  return v_id;
end;
$$;
