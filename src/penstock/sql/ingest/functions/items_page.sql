-- The items of an operation with what happened to each, in order; `_after` is the last ordinal of the previous page. Runs with its
-- caller's rights. Raises PS013.
create or replace function ingest.items_page(_operation_id uuid, _outcome text, _after bigint, _limit integer)
returns setof jsonb
language plpgsql
stable
as $$
begin
  perform ingest.one_operation(_operation_id);
  return query
  select jsonb_build_object('ordinal', i.ordinal, 'item', i.item, 'outcome', i.outcome, 'reason', i.reason)
  from ingest.operation_item i
  where i.operation_id = _operation_id and i.ordinal > coalesce(_after, -1) and (_outcome is null or i.outcome::text = _outcome)
  order by i.ordinal
  limit least(greatest(_limit, 1), 1001);
end;
$$;
