-- The duration in seconds below which this part of a histogram of internal.bucket() lies, evenly spread within a bucket. Null
-- for an empty one.
create or replace function internal.quantile(_histogram bigint[], _part double precision default 0.95)
returns double precision
language sql
immutable
parallel safe
as $$
  select case when b.n = 1 then 0.001 * b.share else 0.001 * power(1.5, b.n - 2) * (1 + 0.5 * b.share) end
  from (
    select c.n, (t.wanted - (c.upto - c.counted)) / c.counted as share
    from (
      select h.n, h.counted, sum(h.counted) over (order by h.n)::double precision as upto
      from unnest(_histogram) with ordinality as h (counted, n)
    ) c
    cross join (select _part * sum(s.counted)::double precision as wanted from unnest(_histogram) as s (counted)) t
    where c.counted > 0 and c.upto >= t.wanted
    order by c.n
    limit 1
  ) b;
$$;
