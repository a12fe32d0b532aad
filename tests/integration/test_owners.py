"""Whichever login migrates, everything belongs to the owners, and only granted functions can be called."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import asyncpg
import pytest

from penstock.db import Connection
from penstock.db.connect import assert_safe_role, connect
from penstock.db.migrator import migrate
from penstock.db.roles import ROLE_NAMES
from penstock.db.sql_folders import read_folder
from penstock.errors import UnsafeRole
from penstock.sql import load
from tests.plugins.database import Database
from tests.plugins.sql_folder import add

STRANGERS = """
with house as (
  select oid, nspowner from pg_namespace where nspname in ('internal', 'queues')
)
select c.relname::text
from pg_class as c join house as h on h.oid = c.relnamespace
where c.relowner <> h.nspowner
union all
select p.proname::text
from pg_proc as p join house as h on h.oid = p.pronamespace
where p.proowner <> h.nspowner or has_function_privilege('public', p.oid, 'execute')
union all
select t.typname::text
from pg_type as t join house as h on h.oid = t.typnamespace
where t.typowner <> h.nspowner
"""


async def test_everything_belongs_to_the_owner_of_its_schema_and_no_function_is_public(
    database: Database, folder: Path
) -> None:
    version = load().version
    add(
        folder,
        f"migrations/{version + 1:04}_things.sql",
        """
        create table queues.thing (id bigint generated always as identity, at date) partition by range (at);
        create table queues.thing_one partition of queues.thing default;
        create sequence queues.thing_seq;
        create type queues.colour as enum ('red');
        create type queues.pair as (a integer, b integer);
        create domain queues.small as integer check (value < 10);
        create materialized view queues.things as select 1 as a;
        """,
    )
    async with database.connect() as connection:
        await migrate(connection, load(folder))
        assert await connection.fetch(STRANGERS) == []


@asynccontextmanager
async def owner_login(database: Database) -> AsyncIterator[Connection]:
    """A role that may create roles and owns its database, as managed servers hand it out."""
    role = f"owner_{database.name}"
    async with database.connect() as admin:
        await admin.execute(f"create role {role} login createrole password 'owner'")
        await admin.execute(f"alter database {database.name} owner to {role}")
        # On a server of its own it would have made them itself, which since version 16 has this result.
        for name in ROLE_NAMES if connected_to_16(admin) else ():
            if await admin.fetchval("select to_regrole($1) is not null", name):
                await admin.execute(f"grant {name} to {role} with admin true, inherit false, set false")
        try:
            connection = await connect(database.login_url(role, "owner"))
            try:
                yield connection
            finally:
                await connection.close()
        finally:
            await admin.execute(f"alter database {database.name} owner to postgres")
            await admin.execute(f"drop owned by {role} cascade")
            await admin.execute(f"drop role {role}")


def connected_to_16(connection: Connection) -> bool:
    """Or newer: since 16 the creator of a role is its member; before, nobody was and anyone could join."""
    return connection.get_server_version().major >= 16


async def test_an_owner_who_is_not_a_superuser_can_migrate(
    empty_database: Database, folder: Path, own_sql: Path
) -> None:
    own = read_folder(own_sql, "test")
    assert own is not None
    async with owner_login(empty_database) as connection:
        report = await migrate(connection, folders=[own])
        assert report.migrations
        assert report.folders[0].migrations
        with (folder / "internal/functions/schema_version.sql").open("a") as file:
            file.write("-- again\n")
        assert (await migrate(connection, load(folder))).objects == ("internal/functions/schema_version.sql",)
        assert await connection.fetch(STRANGERS) == []


async def test_a_process_refuses_to_run_as_superuser_or_owner(database: Database) -> None:
    async with database.connect("admin") as admin:
        with pytest.raises(UnsafeRole, match="superuser"):
            await assert_safe_role(admin)
        async with owner_login(database) as owner:
            if not connected_to_16(owner):
                await owner.execute("grant penstock_owner to current_user")  # as migrating does
            with pytest.raises(UnsafeRole, match="penstock_owner"):
                await assert_safe_role(owner)
        async with admin.transaction():
            await admin.execute("set local session authorization penstock_all_tenants")
            with pytest.raises(UnsafeRole, match="penstock_all_tenants"):
                await assert_safe_role(admin)
    async with database.connect("runtime") as runtime, database.connect("operator") as operator:
        await assert_safe_role(runtime)
        await assert_safe_role(operator)


@asynccontextmanager
async def login_with(database: Database, attributes: str) -> AsyncIterator[tuple[str, Connection]]:
    """A login of this test's own: its name and a connection as it."""
    role = f"login_{database.name}"
    async with database.connect() as admin:
        await admin.execute(f"create role {role} login password 'own' {attributes}")
        try:
            connection = await connect(database.login_url(role, "own"))
            try:
                yield role, connection
            finally:
                await connection.close()
        finally:
            await admin.execute(f"drop owned by {role} cascade")
            await admin.execute(f"drop role {role}")


async def test_a_login_that_may_become_a_superuser_is_refused(database: Database) -> None:
    async with login_with(database, "in role postgres") as (_, connection):
        with pytest.raises(UnsafeRole, match="is a member of postgres, which is a superuser"):
            await assert_safe_role(connection)


async def test_a_login_with_createrole_is_refused_where_it_may_grant_itself_any_role(
    database: Database,
) -> None:
    """Before PostgreSQL 16 it could join the owners; since then it needs the admin option for that."""
    async with login_with(database, "createrole in role worker_service_user") as (role, connection):
        if connected_to_16(connection):
            await assert_safe_role(connection)
            with pytest.raises(asyncpg.InsufficientPrivilegeError):
                await connection.execute("grant penstock_owner to current_user")
            return
        with pytest.raises(UnsafeRole, match="CREATEROLE") as caught:
            await assert_safe_role(connection)
        assert f"alter role {role} nocreaterole" in str(caught.value)
        async with database.connect() as admin:
            await admin.execute(f"alter role {role} nocreaterole")
        await assert_safe_role(connection)
