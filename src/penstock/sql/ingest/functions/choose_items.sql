-- Chooses the items of an operation, once, in one statement and so at one moment: what matches its filter and has not changed since
-- it was started. A canary's are a sample: the order is then that of a hash. Returns how many, or null after it ended the operation
-- because they are far more than the person expected; a number that was named as approximate bounds nothing. Runs with its caller's rights. Locks: the operation's row.
create or replace function ingest.choose_items(_operation ingest.operation)
returns bigint
language plpgsql
as $$
declare
  v_total bigint;
begin
  insert into ingest.operation_item (operation_id, ordinal, tenant_id, item)
  select _operation.operation_id,
    row_number() over (order by case when _operation.canary_percent is not null then md5(t.item) end, t.item) - 1,
    coalesce(t.tenant_id, internal.no_tenant()), t.item
  from ingest.operation_targets(_operation.action::text, _operation.filter, _operation.started_at) t;
  get diagnostics v_total = row_count;
  -- Fewer is harmless: they have changed meanwhile, or somebody else dealt with them.
  if v_total > _operation.expected_count * 1.1 + 10 and _operation.expected_count <= ingest.exact_up_to() then
    perform ingest.end_operation(_operation.operation_id, 'stopped', format(
      '%s items match, not about %s: nothing was done. Look at them again, then start with this number.',
      v_total, _operation.expected_count));
    return null;
  end if;
  update ingest.operation o set
    total = v_total,
    canary_size = case when o.canary_percent is not null then ceil(v_total * o.canary_percent / 100.0) end
  where o.operation_id = _operation.operation_id;
  return v_total;
end;
$$;
