-- Removes processes of these schemas from the register if their supervisor is gone, because their files were removed. Their
-- open roots go too, since nothing could end them; the facts stay until a migration drops them. Runs with the rights of the
-- login that migrates.
create or replace function internal.forget_processes(_schemas text[])
returns text[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_gone text[];
begin
  select array_agg(p.process order by p.process) into v_gone
  from internal.process p
  where split_part(p.process, '.', 1) = any (_schemas) and to_regprocedure(p.supervisor || '(jsonb)') is null;
  delete from internal.open_root o where o.process = any (v_gone);
  delete from internal.process p where p.process = any (v_gone);
  return coalesce(v_gone, '{}');
end;
$$;
