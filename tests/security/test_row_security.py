"""Row security and the grants on tables of every schema, read from the catalogue."""

from __future__ import annotations

from tests.plugins.database import Database
from tests.security.tenants_filled import tenant_schemas, tenant_tables, two_tenants
from tests.sql.document_calls import tenant_transaction

ROLES = [
    "penstock_api",
    "worker_service_user",
    "service_role",
    "penstock_reader",
    "penstock_runtime",
    "penstock_operator",
]


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
            where c.relkind in ('r', 'p')
              and (c.relnamespace::regnamespace::text = any ($1) or c.oid::regclass::text = any ($2))
            order by 1
            """,
            await tenant_schemas(calls.admin),
            await tenant_tables(calls.admin),
        )
    own = "(tenant_id = ( SELECT internal.tenant_id() AS tenant_id))"
    assert len(tables) > 40
    for table in tables:
        assert table["has_tenant"], f"{table['name']} has no tenant_id"
        assert (table["relrowsecurity"], table["relforcerowsecurity"]) == (True, True), table["name"]
        assert table["policies"] == [
            f"own_tenant * true public {own} {own}",
            "sees_all_tenants * true penstock_all_tenants true true",
        ], table["name"]


async def test_nobody_but_penstock_all_tenants_has_a_right_on_a_table_of_a_tenant(database: Database) -> None:
    """Views of facts are for operators to read, and nothing else.

    The queue may see that somebody watches: internal.watcher has random ids and times, nothing of a tenant.
    """
    async with two_tenants(database) as (calls, _, _):
        schemas = [*await tenant_schemas(calls.admin), "internal"]
        granted = await calls.admin.fetch(
            """
            select c.oid::regclass::text, coalesce(r.rolname, 'public'), a.privilege_type
            from pg_class c
            cross join lateral aclexplode(c.relacl) a
            left join pg_roles r on r.oid = a.grantee
            where c.relnamespace::regnamespace::text = any ($1) and c.relkind in ('r', 'p', 'v', 'm', 'S')
              and c.relname <> 'test_clock'
              and a.grantee <> c.relowner and r.rolname is distinct from 'penstock_all_tenants'
              and (c.relkind, r.rolname, a.privilege_type) is distinct from ('v', 'service_role', 'SELECT')
              and (c.oid::regclass::text, r.rolname, a.privilege_type)
                is distinct from ('internal.watcher', 'penstock_queue', 'SELECT')
            """,
            schemas,
        )
        assert granted == []
        for role in ROLES:
            reads_views = role in ("service_role", "penstock_operator")
            open_tables = await calls.admin.fetch(
                """
                select c.oid::regclass::text from pg_class c
                where c.relnamespace::regnamespace::text = any ($1) and c.relname <> 'test_clock'
                  and c.relkind = any ($3) and has_table_privilege($2, c.oid,
                    'select, insert, update, delete, truncate, references, trigger')
                """,
                schemas,
                role,
                [b"r", b"p", b"m"] if reads_views else [b"r", b"p", b"m", b"v"],
            )
            assert open_tables == [], role


async def test_a_view_shows_an_operator_the_transactions_tenant_and_nobody_elses(database: Database) -> None:
    async with two_tenants(database) as (calls, ours, theirs):
        views = [
            row["name"]
            for row in await calls.admin.fetch(
                """
                select c.oid::regclass::text as name from pg_class c
                where c.relnamespace::regnamespace::text = any ($1) and c.relkind = 'v'
                """,
                await tenant_schemas(calls.admin),
            )
        ]
        assert len(views) >= 7
        for view in views:
            whose = f"select distinct tenant_id from {view}"
            assert await calls.operator.fetch(whose) == [], view
            for filled in (ours, theirs):
                async with tenant_transaction(calls.operator, filled.tenant):
                    shown = [row["tenant_id"] for row in await calls.operator.fetch(whose)]
                assert shown == [filled.tenant.tenant_id], view


async def test_no_login_is_a_member_of_an_owner(database: Database) -> None:
    async with database.connect("admin") as admin:
        assert await admin.fetch(
            """
            select m.rolname, o.rolname from pg_roles o, pg_roles m
            where o.rolname in ('penstock_owner', 'penstock_queue', 'penstock_all_tenants')
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
