-- Notes that somebody wants to connect a source of this kind: the state's hash, where it goes, and until when it is valid.
-- Raises PS005 for a kind that is not connected this way, PS012, PS013 for a verifier that is not in the tenant's vault, PS017.
create or replace function ingest.begin_connect(
  _state_sha256 bytea,
  _kind text,
  _project text,
  _requested_by text,
  _redirect_uri text,
  _verifier_secret_id uuid,
  _valid_for interval default '10 minutes'
)
returns timestamptz
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tenant_id uuid := (ingest.open_tenant()).tenant_id;
  v_expires_at timestamptz := internal.clock() + least(_valid_for, interval '1 hour');
begin
  if not exists (select from internal.source_kind k where k.kind = _kind and k.identity = 'item') then
    raise exception using errcode = 'PS005', detail = 'provider',
      message = format('a source of the kind %L cannot be connected', left(_kind, 100)),
      hint = 'Choose one of the providers that can be connected.';
  end if;
  if not exists (
    select from vault.secret s
    where s.tenant_id = v_tenant_id and s.secret_id = _verifier_secret_id)
  then
    raise exception using errcode = 'PS013', detail = 'verifier_secret_id',
      message = 'the verifier of this attempt is not in the vault', hint = 'Store it in the vault first.';
  end if;
  insert into ingest.connect_attempt (
    state_sha256, tenant_id, project_id, kind, requested_by, redirect_uri, verifier_secret_id, created_at, expires_at)
  values (
    _state_sha256, v_tenant_id, (accounts.find_project(_project)).project_id, _kind, _requested_by, _redirect_uri,
    _verifier_secret_id, internal.clock(), v_expires_at);
  return v_expires_at;
end;
$$;
