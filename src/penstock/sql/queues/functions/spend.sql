-- Spends from a budget that all callers of one key share. Returns zero when the amount was taken; otherwise nothing was
-- taken, and it returns how long to wait before asking again. Call it on its own, not inside a longer transaction: it holds
-- the key's lock (internal.key_lock) to the end, so that two callers never spend the same room. Raises PS005.
create or replace function queues.spend(
  _key text, _count integer, _period interval, _burst integer, _amount integer
)
returns interval
language plpgsql
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_key bytea := internal.key_hash('budget', _key);
  v_burst integer := coalesce(_burst, greatest(1, _count / 10));
  v_rate record;
begin
  if _key is null or _count is null or _count <= 0 or _period is null or _period <= interval '0' or v_burst <= 0 then
    raise exception using errcode = 'PS005', detail = 'budget',
      message = 'a budget needs a key, and a count, a period and a burst above zero',
      hint = 'For example 100 per 1 minute, 10 of them at once.';
  end if;
  if _amount is null or _amount <= 0 or _amount > v_burst then
    raise exception using errcode = 'PS005', detail = 'amount',
      message = format('cannot spend %s at once from a budget with a burst of %s', coalesce(_amount::text, 'null'), v_burst),
      hint = 'Spend one or more, up to the burst.';
  end if;
  perform internal.key_lock(v_key);
  select r.room, r.next_at into v_rate from queues.rate_room(v_key, _count, _period, v_burst) r;
  if v_rate.room >= _amount then
    perform queues.rate_take(v_key, _count, _period, v_burst, _amount);
    return interval '0';
  end if;
  if v_rate.room > 0 then
    return _period / _count * (_amount - v_rate.room);
  end if;
  return v_rate.next_at - internal.clock() + _period / _count * (_amount - 1);
end;
$$;
