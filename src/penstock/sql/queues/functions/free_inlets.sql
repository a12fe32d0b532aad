-- Gives up what this process holds, so that another one takes over at once; `_only` names one inlet.
create or replace function queues.free_inlets(_holder text, _only text default null)
returns void
language sql
security definer
set search_path = pg_catalog, pg_temp
as $$
  delete from queues.inlet_hold h
  using queues.inlet i
  where i.inlet_id = h.inlet_id and h.holder = _holder and (_only is null or i.name = _only)
    and (internal.tenant_id() is null or i.tenant_id = internal.tenant_id());
$$;
