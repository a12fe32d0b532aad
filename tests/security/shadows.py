"""Objects with the names that functions use, which a function without a pinned path would find instead."""

from __future__ import annotations

from penstock.db import Connection

TRAP = "shadowed"

# Every relation of ours under its own name, with its own columns, in a session's temporary schema.
TEMP_TABLES = """
select format('create temp table %I (%s)', c.relname, string_agg(
  format('%I %s', a.attname, format_type(a.atttypid, a.atttypmod)), ', ' order by a.attnum)) as statement
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where n.nspowner::regrole::text in ('penstock_owner', 'penstock_queue')
  and c.relkind in ('r', 'p', 'v') and not c.relispartition
group by c.oid, c.relname
union all
select distinct format('create temp sequence %I', c.relname)
from pg_class c join pg_namespace n on n.oid = c.relnamespace
where n.nspowner::regrole::text in ('penstock_owner', 'penstock_queue') and c.relkind = 'S'
"""

TEMP_VIEWS = """
select format('create temp view %I as select %s', c.relname, string_agg(
  format('null::%s as %I', format_type(a.atttypid, a.atttypmod), a.attname), ', '
    order by a.attnum)) as statement
from pg_class c
join pg_namespace n on n.oid = c.relnamespace
join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped
where n.nspowner::regrole::text in ('penstock_owner', 'penstock_queue')
  and c.relkind in ('r', 'p', 'v') and not c.relispartition
group by c.oid, c.relname
"""

TEMP_TYPES = """
select format('create domain pg_temp.%I as text check (value = %L)', t.name, 'shadowed') as statement
from unnest(array[
  'uuid', 'text', 'int8', 'int4', 'int2', 'jsonb', 'timestamptz', 'interval', 'bool', 'bytea', 'xid8',
  'regclass', 'regtype', 'regprocedure', 'name']) as t (name)
"""

# What the bodies of our functions call: functions of ours, and those of the server they name.
FUNCTIONS = """
with named as (
  select distinct m[1] as name
  from pg_proc p
  join pg_namespace n on n.oid = p.pronamespace
  cross join lateral regexp_matches(p.prosrc, '([a-z_][a-z0-9_]*)[(]', 'g') as m
  where n.nspowner::regrole::text like 'penstock%'
)
select distinct on (p.proname, pg_get_function_identity_arguments(p.oid)) format(
  'create function %s.%I(%s) returns %s language plpgsql as $trap$ begin raise exception %L; end $trap$',
  $1::text, p.proname,
  array_to_string(array(
    select format_type(a.type, null)
    from unnest(p.proargtypes) with ordinality as a (type, place) order by a.place), ', '),
  case when p.proretset then 'setof ' else '' end || format_type(p.prorettype, null), 'shadowed') as statement
from pg_proc p
join pg_namespace n on n.oid = p.pronamespace
join named u on u.name = p.proname
where p.prokind = 'f'
  and (n.nspname = 'pg_catalog' or n.nspowner::regrole::text like 'penstock%')
  and not exists (
    select from unnest(p.proargtypes || p.prorettype) as a (type) join pg_type t on t.oid = a.type
    where t.typtype = 'p' and t.typname not in ('void'))
  and p.provariadic = 0
"""

OPERATORS = """
with chosen as (
  select o.oprname as name, o.oprleft, o.oprright, o.oprresult, row_number() over () as number
  from pg_operator o
  where o.oprnamespace = 'pg_catalog'::regnamespace and o.oprkind = 'b'
    and array[o.oprleft, o.oprright, o.oprresult] <@ array[
      'bigint', 'integer', 'smallint', 'text', 'uuid', 'jsonb', 'timestamptz', 'interval', 'boolean',
      'bytea', 'xid8', 'name', 'oid', 'double precision', 'text[]']::regtype[]::oid[]
)
select format(
  'create function evil.trap_%s(%s, %s) returns %s language plpgsql'
    || ' as $trap$ begin raise exception %L; end $trap$;'
    || ' create operator evil.%s (leftarg = %s, rightarg = %s, function = evil.trap_%s)',
  number, oprleft::regtype, oprright::regtype, oprresult::regtype, 'shadowed',
  name, oprleft::regtype, oprright::regtype, number) as statement
from chosen
"""

SETTINGS = (
    "set standard_conforming_strings = off",
    "set backslash_quote = on",
    "set transform_null_equals = on",
    "set array_nulls = off",
    "set intervalstyle = 'sql_standard'",
    "set bytea_output = 'escape'",
    "set plan_cache_mode = force_generic_plan",
    "set check_function_bodies = off",
    "set search_path = pg_temp",
)

ATTACKS = (
    "temporary tables", "temporary views", "temporary types", "temporary functions", "a schema on the path",
    "settings", "another role",
)  # fmt: skip


async def leave_a_schema_behind(admin: Connection) -> int:
    """What a rogue administrator could leave: a schema that everybody may use, full of traps."""
    await admin.execute("create schema evil; grant usage on schema evil to public")
    statements = [row["statement"] for row in await admin.fetch(FUNCTIONS, "evil")]
    statements += [row["statement"] for row in await admin.fetch(OPERATORS)]
    await admin.execute(";\n".join(statements))
    await admin.execute("create domain evil.jsonb as text; create domain evil.uuid as text")
    return len(statements)


async def attack(admin: Connection, session: Connection, name: str) -> None:
    """Prepare a session of the runtime login, before it calls anything, with all that it may do itself."""
    match name:
        case "temporary tables" | "temporary views" | "temporary types" | "temporary functions":
            queries = {
                "temporary tables": TEMP_TABLES,
                "temporary views": TEMP_VIEWS,
                "temporary types": TEMP_TYPES,
            }
            found = (
                await admin.fetch(FUNCTIONS, "pg_temp")
                if name == "temporary functions"
                else await admin.fetch(queries[name])
            )
            assert len(found) > 10
            await session.execute(";\n".join(row["statement"] for row in found))
            await session.execute("set search_path = pg_temp, pg_catalog, public")
        case "a schema on the path":
            assert await leave_a_schema_behind(admin) > 300
            await session.execute("set search_path = evil, pg_temp, pg_catalog")
        case "settings":
            for setting in SETTINGS:
                await session.execute(setting)
        case "another role":
            await session.execute("set role worker_service_user")
