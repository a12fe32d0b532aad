-- Notes how an attempt to connect a source ended, and under which address its page shows it. Locks: the attempt's row.
-- Raises PS012.
create or replace function ingest.end_connect(
  _state_sha256 bytea,
  _progress_sha256 bytea,
  _source_id uuid,
  _error_code text
)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  update ingest.connect_attempt a set
    finished_at = internal.clock(), progress_sha256 = _progress_sha256, source_id = _source_id,
    error_code = left(regexp_replace(_error_code, '[^A-Za-z0-9_.-]', '', 'g'), 100), verifier_secret_id = null
  where a.tenant_id = internal.require_tenant() and a.state_sha256 = _state_sha256 and a.finished_at is null;
$$;
