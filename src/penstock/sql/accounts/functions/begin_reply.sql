-- Notes that a request with an idempotency key has started. Returns null to go on, otherwise the kept reply, or
-- {"in_flight": true}, or {"mismatch": true} when the key was used for another request before. A request whose process died
-- leaves its row; after five minutes the next one may take it over. Raises PS012, PS017.
create or replace function accounts.begin_reply(_key_sha256 bytea, _request_sha256 bytea)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept accounts.kept_reply;
begin
  perform ingest.open_tenant();
  -- Again when the other request is forgotten between the two statements.
  loop
    insert into accounts.kept_reply (tenant_id, key_sha256, request_sha256, created_at)
    values (internal.require_tenant(), _key_sha256, _request_sha256, internal.clock())
    on conflict (tenant_id, key_sha256) do nothing;
    if found then
      return null;
    end if;
    select * into v_kept from accounts.kept_reply k
    where k.tenant_id = internal.require_tenant() and k.key_sha256 = _key_sha256 for update;
    exit when found;
  end loop;
  if v_kept.request_sha256 <> _request_sha256 then
    return jsonb_build_object('mismatch', true);
  end if;
  if v_kept.status is not null then
    return jsonb_build_object('status', v_kept.status, 'body', v_kept.body);
  end if;
  if v_kept.created_at > internal.clock() - interval '5 minutes' then
    return jsonb_build_object('in_flight', true);
  end if;
  update accounts.kept_reply k set created_at = internal.clock()
  where k.tenant_id = v_kept.tenant_id and k.key_sha256 = _key_sha256;
  return null;
end;
$$;
