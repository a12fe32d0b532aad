-- How many tasks a key's token bucket allows to start now, and when the next token arrives.
-- The newest grant holds the theoretical arrival time; nothing is updated. The caller holds the key's lock.
-- A grant is at most a full burst ahead of its own time; one that is further ahead was given under a slower rate and
-- counts as a full burst, so that a raised rate takes effect at once.
create or replace function queues.rate_room(
  _key bytea,
  _count integer,
  _period interval,
  _burst integer,
  out room integer,
  out next_at timestamptz
)
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := internal.clock();
  v_step double precision := extract(epoch from _period) / _count;
  v_burst integer := coalesce(_burst, greatest(1, _count / 10));
  v_lead double precision;
begin
  select extract(epoch from least(g.arrival_at, g.granted_at + make_interval(secs => v_burst * v_step)) - v_now)
  into v_lead
  from queues.rate_grant g where g.key = _key order by g.grant_id desc limit 1;
  v_lead := greatest(0, coalesce(v_lead, 0));
  room := greatest(0, floor((v_burst * v_step - v_lead) / v_step + 1e-6))::integer;
  next_at := v_now + make_interval(secs => greatest(0, v_lead - (v_burst - 1) * v_step));
end;
$$;
