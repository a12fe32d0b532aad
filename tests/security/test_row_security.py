"""Row security, owners and grants of every schema, read from the catalogue."""

from __future__ import annotations

from tests.plugins.database import Database
from tests.security.tenants_filled import SCHEMAS, two_tenants

ROLES = [
    "penstock_api",
    "worker_service_user",
    "service_role",
    "penstock_reader",
    "penstock_runtime",
    "penstock_operator",
]
HOUSE = [*SCHEMAS, "queues", "internal", "keeping"]


async def test_every_table_of_a_tenant_forces_row_security_with_both_policies(database: Database) -> None:
    """Also on tables made while it ran, partitions among them."""
    async with two_tenants(database) as (calls, _, _):
        tables = await calls.admin.fetch(
            """
            select c.oid::regclass::text as name, c.relrowsecurity, c.relforcerowsecurity,
              exists (
                select from pg_attribute a
                where a.attrelid = c.oid and a.attname = 'tenant_id' and a.attnotnull) as has_tenant,
              array(
                select p.polname || ' ' || p.polcmd::text || ' ' || p.polpermissive::text || ' '
                  || array_to_string(array(
                    select coalesce(r.rolname, 'public') from unnest(p.polroles) as o (oid)
                    left join pg_roles r on r.oid = o.oid), ',')
                  || ' ' || pg_get_expr(p.polqual, p.polrelid)
                  || ' ' || pg_get_expr(p.polwithcheck, p.polrelid)
                from pg_policy p where p.polrelid = c.oid order by p.polname) as policies
            from pg_class c
            where c.relnamespace::regnamespace::text = any ($1) and c.relkind in ('r', 'p')
            order by 1
            """,
            list(SCHEMAS),
        )
    own = "(tenant_id = ( SELECT internal.tenant_id() AS tenant_id))"
    assert len(tables) > 20
    for table in tables:
        assert table["has_tenant"], f"{table['name']} has no tenant_id"
        assert (table["relrowsecurity"], table["relforcerowsecurity"]) == (True, True), table["name"]
        assert table["policies"] == [
            "keeper_sees_all * true penstock_keeper true true",
            f"own_tenant * true public {own} {own}",
        ], table["name"]


async def test_nobody_but_the_keeper_has_a_right_on_a_table_of_a_tenant(database: Database) -> None:
    async with two_tenants(database) as (calls, _, _):
        granted = await calls.admin.fetch(
            """
            select c.oid::regclass::text, coalesce(r.rolname, 'public'), a.privilege_type
            from pg_class c
            cross join lateral aclexplode(c.relacl) a
            left join pg_roles r on r.oid = a.grantee
            where c.relnamespace::regnamespace::text = any ($1) and c.relkind in ('r', 'p', 'v', 'm', 'S')
              and a.grantee <> c.relowner and r.rolname is distinct from 'penstock_keeper'
            """,
            list(SCHEMAS),
        )
        assert granted == []
        for role in ROLES:
            open_tables = await calls.admin.fetch(
                """
                select c.oid::regclass::text from pg_class c
                where c.relnamespace::regnamespace::text = any ($1) and c.relkind in ('r', 'p', 'v', 'm')
                  and has_table_privilege($2, c.oid,
                    'select, insert, update, delete, truncate, references, trigger')
                """,
                list(SCHEMAS),
                role,
            )
            assert open_tables == [], role


async def test_every_definer_function_has_a_pinned_path_and_a_bound_owner(database: Database) -> None:
    async with database.connect("admin") as admin:
        functions = await admin.fetch(
            """
            select p.oid::regprocedure::text as name, r.rolname, r.rolsuper, r.rolbypassrls, r.rolcanlogin,
              p.prosecdef, n.nspname, coalesce(p.proconfig, '{}') as settings
            from pg_proc p
            join pg_namespace n on n.oid = p.pronamespace
            join pg_roles r on r.oid = p.proowner
            where n.nspname = any ($1)
            """,
            HOUSE,
        )
    assert len(functions) > 150
    for function in functions:
        name = function["name"]
        assert not any(function[right] for right in ("rolsuper", "rolbypassrls", "rolcanlogin")), name
        assert (function["rolname"] == "penstock_keeper") == (function["nspname"] == "keeping"), name
        if function["prosecdef"]:
            paths = {"search_path=pg_catalog, pg_temp", 'search_path=""'}
            assert paths & set(function["settings"]), name


async def test_no_function_or_schema_is_open_to_everybody(database: Database) -> None:
    async with database.connect("admin") as admin:
        assert await admin.fetch(
            """
            select p.oid::regprocedure::text
            from pg_proc p
            cross join lateral aclexplode(coalesce(p.proacl, acldefault('f', p.proowner))) a
            where p.pronamespace::regnamespace::text = any ($1) and a.grantee = 0
            """,
            HOUSE,
        ) == []  # fmt: skip
        assert await admin.fetch(
            """
            select n.nspname from pg_namespace n cross join lateral aclexplode(n.nspacl) a
            where n.nspname = any ($1) and a.grantee = 0
            """,
            HOUSE,
        ) == []  # fmt: skip


async def test_no_login_is_a_member_of_an_owner(database: Database) -> None:
    async with database.connect("admin") as admin:
        assert await admin.fetch(
            """
            select m.rolname, o.rolname from pg_roles o, pg_roles m
            where o.rolname in ('penstock_owner', 'penstock_queue', 'penstock_keeper')
              and m.rolname = any ($1) and pg_has_role(m.oid, o.oid, 'member')
            """,
            ROLES,
        ) == []  # fmt: skip


async def test_the_owner_itself_sees_only_the_transactions_tenant(database: Database) -> None:
    """Forced: a definer function that forgets its where clause shows no other tenant's row."""
    async with two_tenants(database) as (calls, ours, _):
        async with calls.admin.transaction():
            await calls.admin.execute("set local role penstock_owner")
            count = "select count(*) from ingest.document"
            assert await calls.admin.fetchval(count) == 0
            await calls.admin.execute(
                "select set_config('penstock.tenant_id', $1, true)", str(ours.tenant.tenant_id)
            )
            assert await calls.admin.fetchval(count) > 0
            assert await calls.admin.fetchval("select count(distinct tenant_id) from ingest.document") == 1
