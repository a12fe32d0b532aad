-- Seconds until the next attempt of a task type after its n-th failure with this error, or null when it is
-- out of attempts. The policy of the error's code goes before the type's default:
--   {"kind": "none"} · {"kind": "table", "delays": [0, 30, 300]} · {"kind": "exponential", "base": 1, "factor": 4,
--   "cap": 3600, "jitter": 0.25, "attempts": 3}
-- The table's first entry is the first run's: now, 30 s, 5 min, then dead.
create or replace function queues.retry_delay(_type queues.task_type, _error_code text, _failures integer)
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
  case v_policy ->> 'kind'
    when 'none' then
      return null;
    when 'table' then
      return (v_policy -> 'delays' ->> _failures)::double precision;
    else
      if _failures >= coalesce((v_policy ->> 'attempts')::numeric, _type.max_attempts) then
        return null;
      end if;
      v_delay := least(
        (v_policy ->> 'base')::double precision * (v_policy ->> 'factor')::double precision ^ (_failures - 1),
        coalesce((v_policy ->> 'cap')::double precision, 3600));
      return v_delay * (1 + coalesce((v_policy ->> 'jitter')::double precision, 0) * random());
  end case;
end;
$$;
