-- Keeps the reply to a request with an idempotency key; without a status it forgets the request, so that a failed one can be
-- sent again. A secret is never kept: the API omits it, and a secret from an API process of the previous release is removed
-- here. Raises PS012.
create or replace function accounts.keep_reply(_key_sha256 bytea, _status integer, _body jsonb)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if _status is null then
    delete from accounts.kept_reply k
    where k.tenant_id = internal.require_tenant() and k.key_sha256 = _key_sha256 and k.status is null;
  else
    update accounts.kept_reply k set
      status = _status,
      body = case when jsonb_typeof(_body) = 'object' and _body ? 'secret'
        then _body || '{"secret": null}' else _body end
    where k.tenant_id = internal.require_tenant() and k.key_sha256 = _key_sha256;
  end if;
end;
$$;
