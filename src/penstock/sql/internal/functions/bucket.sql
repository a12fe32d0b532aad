-- The place of a duration in a histogram of 46: 1 for up to a millisecond, each next one half as long again, 46 for all above
-- 19 hours. Histograms with the same bounds can be added up over any span. Null for null.
create or replace function internal.bucket(_seconds double precision)
returns integer
language sql
immutable
parallel safe
as $$
  -- least() ignores nulls: without the condition an unknown duration would be the longest.
  select case
    when _seconds <= 0.001 then 1
    when _seconds is not null then least(46, 1 + ceil(ln(_seconds * 1000) / ln(1.5))::integer)
  end;
$$;
