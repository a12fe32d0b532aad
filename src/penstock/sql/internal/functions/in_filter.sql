-- Whether a value is among those of a filter written as text: several are separated by commas, one that begins with ! is excluded,
-- and no filter lets every value pass.
create or replace function internal.in_filter(_value text, _filter text)
returns boolean
language sql
immutable
parallel safe
as $$
  select coalesce(
    (bool_or(v.value = _value) filter (where v.value not like '!%') is not false)
    and (bool_or(v.value = '!' || _value) is not true), true)
  from (select btrim(p.part) as value from unnest(string_to_array(_filter, ',')) as p (part)) v
  where v.value not in ('', '!');
$$;
