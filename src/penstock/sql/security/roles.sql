-- The roles of Penstock, created if missing. They belong to the whole server, so the migration of another database may
-- create them at the same moment; an existing role is fine. Nobody logs in as one of them; logins are their members.
do $roles$
declare
  v_role text;
  v_is_superuser boolean := (select r.rolsuper from pg_catalog.pg_roles as r where r.rolname = current_user);
begin
  foreach v_role in array array[
    'penstock_owner',
    'penstock_queue',
    'penstock_all_tenants',
    'penstock_api',
    'worker_service_user',
    'service_role',
    'penstock_reader'
  ]
  loop
    if not exists (select from pg_catalog.pg_roles as r where r.rolname = v_role) then
      begin
        execute pg_catalog.format('create role %I nologin', v_role);
      exception
        when duplicate_object or unique_violation then
          null;
      end;
    end if;
  end loop;

  -- A superuser may act as any role. Any other login must be a member of the owner roles to give them tables and to
  -- replace their functions; since PostgreSQL 16 the membership has to grant that explicitly.
  if not v_is_superuser then
    foreach v_role in array array['penstock_owner', 'penstock_queue', 'penstock_all_tenants']
    loop
      if pg_catalog.current_setting('server_version_num')::integer >= 160000 then
        if not (pg_catalog.pg_has_role(v_role, 'set') and pg_catalog.pg_has_role(v_role, 'usage')) then
          execute pg_catalog.format('grant %I to %I with set true, inherit true', v_role, current_user);
        end if;
      elsif not pg_catalog.pg_has_role(v_role, 'member') then
        execute pg_catalog.format('grant %I to %I', v_role, current_user);
      end if;
    end loop;
  end if;
end
$roles$;
