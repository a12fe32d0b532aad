-- Whether the caller is the one to try an unavailable embedder now; the others wait for its result.
-- Locks: the embedder's row.
create or replace function ingest.claim_probe(_embedder text)
returns boolean
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  with claimed as (
    update internal.embedder_outage o set retry_at = internal.clock() + interval '15 seconds'
    where o.embedder = _embedder and o.retry_at <= internal.clock()
    returning true
  )
  select exists (select from claimed);
$$;
