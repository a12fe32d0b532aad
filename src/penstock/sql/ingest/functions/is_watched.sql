-- Whether a worker may wait on a source's mail server: the source, its project and its tenant are in use, and it has a password.
create or replace function ingest.is_watched(_source_id uuid)
returns boolean
language sql
stable
set search_path = pg_catalog, pg_temp
as $$
  select exists (
    select from ingest.source s
    join accounts.tenant t on t.tenant_id = s.tenant_id and t.status = 'active'
    join accounts.project p on p.project_id = s.project_id and p.deleted_at is null
    where s.source_id = _source_id and s.removed_at is null and s.status not in ('paused', 'error') and s.secret_ids <> '{}');
$$;
