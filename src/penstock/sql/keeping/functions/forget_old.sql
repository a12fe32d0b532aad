-- Removes what is only kept for a while: replies to idempotent requests (a day), deliveries seen (twice the time a
-- signature holds). Returns how many rows went.
create or replace function keeping.forget_old()
returns integer
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_replies integer;
  v_seen integer;
begin
  delete from accounts.kept_reply k where k.created_at < internal.clock() - interval '1 day';
  get diagnostics v_replies = row_count;
  delete from ingest.webhook_seen w where w.seen_at < internal.clock() - interval '20 minutes';
  get diagnostics v_seen = row_count;
  return v_replies + v_seen;
end;
$$;
