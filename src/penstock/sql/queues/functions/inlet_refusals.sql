-- The newest messages an inlet refused, with the reason; the messages are in the sender's own place for dead letters.
-- A tenant sees those of its own inlets. Raises PS013.
create or replace function queues.inlet_refusals(_inlet text, _limit integer default 20)
returns table (at timestamptz, message_key text, reason text)
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inlet queues.inlet := queues.find_inlet(_inlet);
begin
  return query
    select r.at, r.message_key, r.reason from queues.inlet_refusal r
    where r.inlet_id = v_inlet.inlet_id and internal.may_see(v_inlet.tenant_id)
    order by r.refusal_id desc limit least(greatest(_limit, 0), 1000);
end;
$$;
