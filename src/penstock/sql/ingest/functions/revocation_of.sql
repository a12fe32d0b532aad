-- The tokens of a disconnected source that are still to be revoked: the newest of each purpose; null if there is nothing to do.
-- `in_use`: the same account was connected again, and at some providers revoking an old token ends the new grant, too.
-- `subscription` is what the provider may still notify us of; it is dropped before the tokens are gone.
-- Raises PS012.
create or replace function ingest.revocation_of(_source_id uuid)
returns jsonb
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select jsonb_build_object(
    'kind', s.kind, 'account', s.account, 'config', s.config,
    'subscription', (
      select jsonb_build_object('provider_id', u.provider_id, 'expires_at', u.expires_at, 'details', u.details)
      from ingest.subscription u
      where u.source_id = s.source_id and u.end_reason = 'disconnected' and u.expires_at > internal.clock()
      order by u.requested_at desc limit 1),
    'refresh_id', (select n.secret_id from vault.newest_secret(s.source_id, 'refresh_token') n),
    'access_id', (select n.secret_id from vault.newest_secret(s.source_id, 'access_token') n),
    'in_use', exists (
      select from ingest.source o
      where o.tenant_id = s.tenant_id and o.removed_at is null
        and (o.source_id = s.source_id or (o.kind = s.kind and o.account = s.account))))
  from ingest.revocation r
  join ingest.source s on s.source_id = r.source_id
  where r.tenant_id = internal.require_tenant() and r.source_id = _source_id and r.ended_at is null;
$$;
