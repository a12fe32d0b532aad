-- Counts a batch of an inlet and keeps the reasons of what was refused; a message that is refused again is not counted again.
-- `_sent_at`: when its oldest message was sent. `_refused_at`: when they were refused, if the sender keeps that as well; it tells
-- messages apart whose keys it uses again. Locks: none that another caller waits for.
create or replace function queues.note_incoming(
  _inlet_id integer,
  _received integer,
  _taken integer,
  _duplicates integer,
  _sent_at timestamptz default null,
  _refused_keys text[] default '{}',
  _reasons text[] default '{}',
  _tenant_ids uuid[] default '{}',
  _refused_at timestamptz default null
)
returns void
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_refused integer := 0;
begin
  if cardinality(_refused_keys) > 0 then
    insert into queues.inlet_refusal (inlet_id, at, message_key, reason, tenant_id)
    select _inlet_id, coalesce(_refused_at, v_now), left(r.message_key, 200), r.reason, r.tenant_id
    from unnest(_refused_keys, _reasons, _tenant_ids) as r (message_key, reason, tenant_id)
    where r.message_key = '' or not exists (
      select from queues.inlet_refusal o where o.inlet_id = _inlet_id and o.message_key = left(r.message_key, 200));
    get diagnostics v_refused = row_count;
  end if;
  insert into queues.inlet_count (inlet_id, at, received, taken, duplicates, refused, lag, last_taken_at)
  values (
    _inlet_id, v_now, _received, _taken, _duplicates, v_refused,
    case when _sent_at is not null then greatest(v_now - _sent_at, interval '0') end,
    case when _taken > 0 then v_now end);
end;
$$;
