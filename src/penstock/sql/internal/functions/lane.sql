-- A lane is (queue, class, tenant) packed into one bigint, so that it needs no lookup row and one index
-- range is one queue. 16 bits queue, 6 bits class, 40 bits of the tenant's hash. Class 0 is the return lane
-- of retried and rescued tasks, class 63 that of suspects; priority p is class p + 1. Two tenants whose hashes meet share a quota, nothing else.
create or replace function internal.lane(_queue_id smallint, _class integer, _tenant_id uuid)
returns bigint
language sql
immutable
parallel safe
as $$
  select (_queue_id::bigint << 46)
    | (_class::bigint << 40)
    | case when _tenant_id is null then 0 else uuid_hash_extended(_tenant_id, 0) & 1099511627775 end;
$$;
