-- The duration in seconds below which this part of a histogram of internal.bucket() lies, evenly spread within a bucket. Null
-- for an empty one. A loop, because a week's history asks for hundreds of them.
create or replace function internal.quantile(_histogram bigint[], _part double precision default 0.95)
returns double precision
language plpgsql
immutable
strict
parallel safe
set search_path = pg_catalog, pg_temp
as $$
declare
  v_counted bigint;
  v_wanted double precision := 0;
  v_before double precision := 0;
  v_n integer := 0;
begin
  foreach v_counted in array _histogram loop
    v_wanted := v_wanted + v_counted;
  end loop;
  v_wanted := v_wanted * _part;
  foreach v_counted in array _histogram loop
    v_n := v_n + 1;
    if v_counted > 0 and v_before + v_counted >= v_wanted then
      return case
        when v_n = 1 then 0.001 * (v_wanted - v_before) / v_counted
        else 0.001 * power(1.5::double precision, v_n - 2) * (1 + 0.5 * (v_wanted - v_before) / v_counted) end;
    end if;
    v_before := v_before + v_counted;
  end loop;
  return null;
end;
$$;
