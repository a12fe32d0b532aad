-- A sync as callers see it.
create or replace function ingest.job_row(_job ingest.ingestion_job)
returns jsonb
language sql
stable
as $$
  select to_jsonb(_job) - 'tenant_id' - 'run' - 'pending_seq' - 'lost_runs';
$$;
