-- Stands for the installation in tables of tenants whose rows may also be an operator's: no tenant has this id, so row security
-- shows such rows to nobody but the functions of all_tenants.
create or replace function internal.no_tenant()
returns uuid
language sql
immutable
parallel safe
as $$
  select '00000000-0000-0000-0000-000000000000'::uuid;
$$;
