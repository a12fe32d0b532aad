-- A lane is (queue, class, tenant) packed into one bigint, so that it needs no lookup row and one index range is one
-- queue: 16 bits queue, 6 bits class, 40 bits of the tenant's hash. lane_queue(), lane_class(), lane_tenant(),
-- first_lane() and return_lane() are the only other functions that know the bits. Priority p is class p + 1, return_class() and
-- suspect_class() are the other two. Two tenants whose hashes are equal share a quota, nothing else.
create or replace function internal.lane(_queue_id smallint, _class integer, _tenant_id uuid)
returns bigint
language sql
immutable
parallel safe
as $$
  select (_queue_id::bigint << 46)
    | (_class::bigint << 40)
    | case when _tenant_id is null then 0 else internal.lane_tenant(uuid_hash_extended(_tenant_id, 0)) end;
$$;
