-- What notifications with a client state would lead to, in their order, without writing: forged, stale, pending, or null if
-- wake_by_subscription() has to write. For many at once: during a sync nearly every notification finds the next one wanted
-- already. It waits for no lock, so that no source delays the notifications of another. Locks: none. Raises nothing.
create or replace function all_tenants.look_up_notifications(_kind text, _provider_ids text[], _client_states_sha256 bytea[])
returns text[]
language sql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
  select array_agg(
    case
      when u.subscription_id is null or s.source_id is null then 'forged'
      when u.ended_at is not null or s.removed_at is not null or s.status in ('paused', 'error') or t.status <> 'active' then 'stale'
      when u.last_notified_at > internal.clock() - interval '10 seconds'
        and ingest.is_covered(p.seq, p.requested_at, j.pending_seq) then 'pending'
    end
    order by n.number)
  from unnest(_provider_ids, _client_states_sha256) with ordinality as n (provider_id, client_state_sha256, number)
  left join ingest.subscription u
    on u.client_state_sha256 = n.client_state_sha256 and coalesce(u.provider_id, n.provider_id) = n.provider_id
  left join ingest.source s on s.source_id = u.source_id and s.kind = _kind
  left join accounts.tenant t on t.tenant_id = u.tenant_id
  left join ingest.pending_sync p on p.source_id = u.source_id
  left join ingest.ingestion_job j on j.source_id = p.source_id and j.finished_at is null;
$$;
