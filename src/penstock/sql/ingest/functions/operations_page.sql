-- Operations that the caller may see, newest first; `_before` is the last id of the previous page. Runs with its caller's rights.
create or replace function ingest.operations_page(_state text, _before uuid, _limit integer)
returns setof jsonb
language sql
stable
as $$
  select ingest.operation_row(o)
  from ingest.operation o
  where (_state is null or o.state::text = any (string_to_array(_state, ','))) and (_before is null or o.operation_id < _before)
  order by o.operation_id desc
  limit least(greatest(_limit, 1), 1001);
$$;
