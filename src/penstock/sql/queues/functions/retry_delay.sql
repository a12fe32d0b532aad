-- Seconds until the next attempt after the n-th failure (_failures) with this error, or null when no attempt is left.
-- The policy for the error's code takes precedence over the type's default:
--   {"kind": "none"} · {"kind": "table", "delays": [0, 30, 300]} · {"kind": "exponential", "base": 1, "factor": 4,
--   "cap": 3600, "jitter": 0.25, "attempts": 3}
-- A task with its own number of attempts has that many, whatever its policy says, unless a table ends before.
-- The first entry of a table is the first run: now, then after 30 s, then after 5 min, then dead.
create or replace function queues.retry_delay(
  _type queues.task_type, _error_code text, _failures integer, _max_attempts integer default null
)
returns double precision
language plpgsql
volatile
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_policy jsonb := coalesce(_type.retry -> 'errors' -> _error_code, _type.retry -> 'default');
  v_delay double precision;
begin
  if _failures >= _max_attempts then
    return null;
  end if;
  case v_policy ->> 'kind'
    when 'none' then
      return null;
    when 'table' then
      return (v_policy -> 'delays' ->> _failures)::double precision;
    else
      if _max_attempts is null and _failures >= coalesce((v_policy ->> 'attempts')::numeric, _type.max_attempts) then
        return null;
      end if;
      v_delay := least(
        (v_policy ->> 'base')::double precision * (v_policy ->> 'factor')::double precision ^ (_failures - 1),
        coalesce((v_policy ->> 'cap')::double precision, 3600));
      return v_delay * (1 + coalesce((v_policy ->> 'jitter')::double precision, 0) * random());
  end case;
end;
$$;
