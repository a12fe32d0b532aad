-- Revokes all earlier grants on functions in Penstock's schemas, so that the grants that follow are the only ones. The
-- user's own schemas keep theirs: their folder may not be available, and if it is, its grants follow these.
select internal.take_back_grants(n.nspname::text)
from pg_namespace n
join pg_roles r on r.oid = n.nspowner
where r.rolname in ('penstock_owner', 'penstock_queue', 'penstock_all_tenants')
  and not exists (select from internal.own_schema s where s.schema_name = n.nspname)
order by n.nspname;
