-- Gives everything in Penstock's schemas to the owner of the schema, whichever role created it, and revokes the functions
-- from public. Runs after each change, before the grants; alters only what differs.
do $owners$
declare
  v_statement text;
begin
  for v_statement in
    with own_schemas as (
      select
        n.oid,
        n.nspowner,
        pg_catalog.quote_ident(r.rolname) as owner
      from pg_catalog.pg_namespace as n
      join pg_catalog.pg_roles as r on r.oid = n.nspowner
      where r.rolname in ('penstock_owner', 'penstock_queue', 'penstock_all_tenants')
    ),
    relation as (
      select pg_catalog.format(
        'alter %s %s owner to %s',
        case c.relkind
          when 'v' then 'view'
          when 'm' then 'materialized view'
          when 'S' then 'sequence'
          when 'f' then 'foreign table'
          when 'c' then 'type'
          else 'table'
        end,
        c.oid::pg_catalog.regclass,
        h.owner
      ) as statement
      from pg_catalog.pg_class as c
      join own_schemas as h on h.oid = c.relnamespace
      where c.relowner <> h.nspowner
        and c.relkind in ('r', 'p', 'v', 'm', 'S', 'f', 'c')
        -- the sequence of a column belongs to its table, and a part of an extension to the extension
        and not exists (
          select
          from pg_catalog.pg_depend as d
          where d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
            and d.objid = c.oid
            and (d.deptype = 'e' or (c.relkind = 'S' and d.deptype in ('a', 'i')))
        )
    ),
    type as (
      select pg_catalog.format('alter type %s owner to %s', t.oid::pg_catalog.regtype, h.owner)
      from pg_catalog.pg_type as t
      join own_schemas as h on h.oid = t.typnamespace
      where t.typowner <> h.nspowner
        and t.typtype in ('e', 'd', 'r')
    ),
    routine as (
      select pg_catalog.format('alter routine %s owner to %s', p.oid::pg_catalog.regprocedure, h.owner)
      from pg_catalog.pg_proc as p
      join own_schemas as h on h.oid = p.pronamespace
      where p.proowner <> h.nspowner
    ),
    open_routine as (
      select pg_catalog.format('revoke all on routine %s from public', p.oid::pg_catalog.regprocedure)
      from pg_catalog.pg_proc as p
      join own_schemas as h on h.oid = p.pronamespace
      where exists (
        select
        from pg_catalog.aclexplode(coalesce(p.proacl, pg_catalog.acldefault('f', p.proowner))) as a
        where a.grantee = 0
      )
    )
    select statement from relation
    union all select * from type
    union all select * from routine
    union all select * from open_routine
  loop
    execute v_statement;
  end loop;
end
$owners$;
