-- One re-index of the tenant, as ingest.bulk_row() says it, with who holds which shard, why documents failed (the first ten), and
-- a hint when nobody works on it. Raises PS012, PS013.
create or replace function ingest.explain_bulk(_run_id uuid)
returns jsonb
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run ingest.bulk_run;
  v_row jsonb;
begin
  select * into v_run from ingest.bulk_run r where r.tenant_id = internal.require_tenant() and r.run_id = _run_id;
  if not found then
    raise exception using errcode = 'PS013', detail = 'run_id', message = format('there is no re-index %s', _run_id),
      hint = 'List them: penstock reindex status. They are kept for 30 days.';
  end if;
  v_row := ingest.bulk_row(v_run);
  return v_row || jsonb_build_object(
    'holders', coalesce((
      select jsonb_agg(jsonb_build_object('shard', h.shard, 'holder', h.holder, 'claim', h.token, 'since', h.claimed_at))
      from (
        select s.* from ingest.bulk_shard s
        where s.run_id = _run_id and s.closed_at is null and s.lease_until > internal.clock()
        order by s.shard limit 100) h), '[]'),
    'failures', coalesce((
      select jsonb_agg(jsonb_build_object('document_id', f.document_id, 'reason', f.reason_code, 'message', f.message))
      from (
        select b.* from ingest.bulk_document b where b.run_id = _run_id and b.outcome = 'failed'
        order by b.shard, b.document_id limit 10) f), '[]'),
    'hint', case
      when v_run.state in ('stopped', 'failed') then format('To continue: penstock reindex resume %s', _run_id)
      when v_run.state = 'done' or (v_row ->> 'held_shards')::integer > 0 or v_run.waits_until > internal.clock() then null
      when v_row #>> '{gate,state}' in ('asking', 'failed') then null -- the reason says it
      when v_run.task_id is not null and queues.is_served('reindex-shard') then null
      when v_run.task_id is not null then 'No worker serves it: start one with penstock worker.'
      else format('No driver may be running; to start one: penstock reindex resume %s --engine ray', _run_id)
      end);
end;
$$;
