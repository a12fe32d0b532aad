-- The values of a filter written as text: several are separated by commas, and one that begins with ! is excluded.
create or replace function ingest.filter_values(_text text)
returns table (wanted text[], unwanted text[])
language sql
immutable
parallel safe
as $$
  select array_agg(v.value) filter (where v.value not like '!%'),
    array_agg(substr(v.value, 2)) filter (where v.value like '!%')
  from (select btrim(p.part) as value from unnest(string_to_array(_text, ',')) as p (part)) v
  where v.value not in ('', '!');
$$;
