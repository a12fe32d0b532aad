-- Closes a shard, once, and publishes what it staged, in one transaction: a document whose content is still the one that was read
-- gets the new generation; one that changed or was indexed meanwhile keeps its newer version, one that was deleted stays so.
-- While the project switches to another embedder or has a gate, the generation only becomes the staged one:
-- ingest.flip_embedder() publishes all at once. Returns the counts. The token is the fence, and a shard is closed once.
-- Locks: the run's row if it says what it waits for, the shard's, the project's shared (a switch waits), documents' in the order of
-- their ids. Raises PS006, PS011, PS012.
create or replace function ingest.close_shard(_run_id uuid, _shard integer, _token integer)
returns jsonb
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_run ingest.bulk_run;
  v_shard ingest.bulk_shard;
  v_document ingest.document;
  v_staged ingest.bulk_document;
  v_outcome text;
  v_counts jsonb;
  v_waited boolean;
begin
  perform from ingest.bulk_run r
  where r.tenant_id = internal.require_tenant() and r.run_id = _run_id and r.reason is not null and r.finished_at is null
  for no key update;
  v_waited := found;
  update ingest.bulk_shard s set closed_at = v_now, lease_until = null
  where s.tenant_id = internal.require_tenant() and s.run_id = _run_id and s.shard = _shard
    and s.token = _token and s.closed_at is null
  returning * into v_shard;
  if not found then
    perform ingest.hold_shard(_run_id, _shard, _token); -- says why
  end if;
  if exists (
    select from ingest.bulk_document b where b.run_id = _run_id and b.shard = _shard and b.outcome = 'begun')
  then
    raise exception using errcode = 'PS011', detail = 'shard',
      message = format('shard %s of re-index %s has documents without an outcome', _shard, _run_id),
      hint = 'End every document first.';
  end if;
  select * into v_run from ingest.bulk_run r where r.run_id = _run_id;
  perform from accounts.project p where p.project_id = v_run.project_id for share;
  for v_staged in
    select * from ingest.bulk_document b
    where b.run_id = _run_id and b.shard = _shard and b.outcome in ('staged', 'failed')
    order by b.document_id
  loop
    select * into v_document from ingest.document d where d.document_id = v_staged.document_id for update;
    v_outcome := case
      when v_document.document_id is null or v_document.deleted_at is not null then 'gone'
      when v_document.content_sha256 <> v_staged.content_sha256 or v_document.status not in ('indexed', 'failed')
        or v_run.switches and v_document.status = 'failed' or v_document.live_generation > v_staged.generation then 'newer'
      else v_staged.outcome::text end;
    if v_outcome = 'staged' then
      perform ingest.publish_staged(v_document, v_staged, v_run);
    else
      if v_staged.generation is not null then
        perform ingest.put_sweep(v_staged.document_id, v_staged.generation, interval '0');
      end if;
      if v_outcome = 'failed' then
        perform ingest.note_event(v_staged.document_id, 'staging_failed', null, null, v_staged.reason_code, v_staged.message,
          jsonb_build_object('run_id', _run_id, 'pipeline', v_staged.pipeline));
        if v_run.switches or v_run.holds then
          update ingest.document d set
            staged_generation = null, staged_pipeline = 'failed ' || v_staged.pipeline, staged_sha256 = v_staged.content_sha256
          where d.document_id = v_staged.document_id;
        end if;
      end if;
      update ingest.bulk_document b set outcome = v_outcome::ingest.bulk_outcome
      where b.run_id = _run_id and b.shard = _shard and b.document_id = v_staged.document_id and b.outcome::text <> v_outcome;
    end if;
  end loop;
  with counted as (
    select
      count(*) filter (where b.outcome = 'staged') as indexed,
      count(*) filter (where b.outcome = 'newer') as newer,
      count(*) filter (where b.outcome = 'gone') + greatest(0, v_shard.documents - count(*)) as gone,
      count(*) filter (where b.outcome = 'failed') as failed,
      coalesce(sum((b.facts #>> '{counts,chunks}')::bigint), 0) as chunks,
      coalesce(sum((b.facts #>> '{counts,embedded}')::bigint), 0) as embedded,
      coalesce(sum((b.facts #>> '{counts,reused}')::bigint), 0) as reused,
      coalesce(sum((b.facts #>> '{counts,embedded_tokens}')::bigint), 0) as embedded_tokens
    from ingest.bulk_document b where b.run_id = _run_id and b.shard = _shard
  )
  update ingest.bulk_shard s set
    documents = c.indexed + c.newer + c.gone + c.failed, indexed = c.indexed, newer = c.newer, gone = c.gone, failed = c.failed,
    chunks = c.chunks, embedded = c.embedded, reused = c.reused, embedded_tokens = c.embedded_tokens
  from counted c
  where s.run_id = _run_id and s.shard = _shard
  returning to_jsonb(c) into v_counts;
  delete from ingest.bulk_document b where b.run_id = _run_id and b.shard = _shard and b.outcome <> 'failed';
  if v_waited then
    update ingest.bulk_run r set reason = null, waits_until = null where r.run_id = _run_id;
  end if;
  return v_counts;
end;
$$;
