-- The inlet with this name; in a transaction of a tenant only its own. Raises PS013 if there is none.
create or replace function queues.find_inlet(_inlet text)
returns queues.inlet
language plpgsql
stable
security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inlet queues.inlet;
begin
  select * into v_inlet from queues.inlet i
  where i.name = _inlet and i.removed_at is null and (internal.tenant_id() is null or i.tenant_id = internal.tenant_id());
  if not found then
    raise exception using errcode = 'PS013', detail = 'inlet',
      message = format('there is no inlet %L', left(_inlet, 80)),
      hint = 'List them: penstock inlet list; add one: penstock inlet add --help';
  end if;
  return v_inlet;
end;
$$;
