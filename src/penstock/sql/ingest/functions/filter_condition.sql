-- SQL for one column of a filter, to be appended to a where clause: empty without a value. `_type` is the values' type. A single
-- value is written as an equation, so that a partial index can be used; values that are excluded also match a null.
create or replace function ingest.filter_condition(_column text, _type text, _wanted text[], _unwanted text[])
returns text
language sql
immutable
parallel safe
as $$
  select
    case
      when cardinality(_wanted) = 1 then format(' and %s = %L::%s', _column, _wanted[1], _type)
      when _wanted is not null then format(' and %s = any (%L::%s[])', _column, _wanted, _type)
      else '' end
    || case when _unwanted is null then ''
      else format(' and (%1$s is null or %1$s <> all (%2$L::%3$s[]))', _column, _unwanted, _type) end;
$$;
