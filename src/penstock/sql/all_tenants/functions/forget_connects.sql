-- Removes up to _limit attempts to connect a source that are a day old, with what the vault still has of them; returns how
-- many. Locks: the attempts and the secrets, skipping locked attempts.
create or replace function all_tenants.forget_connects(_limit integer default 1000)
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_secrets uuid[];
  v_count integer;
begin
  with
    old as (
      select a.state_sha256 from ingest.connect_attempt a
      where a.expires_at < internal.clock() - interval '1 day'
      limit _limit
      for update skip locked),
    gone as (
      delete from ingest.connect_attempt a using old o
      where a.state_sha256 = o.state_sha256
      returning a.verifier_secret_id)
  select array_agg(g.verifier_secret_id), count(*) into v_secrets, v_count from gone g;
  delete from vault.secret s where s.secret_id = any (v_secrets) and s.purpose = 'pkce_verifier';
  return v_count;
end;
$$;
