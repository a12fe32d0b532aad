"""Whoever migrates, what is made belongs to the owners, and nobody may call what was not granted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from penstock.db import Connection
from penstock.db.connect import assert_safe_role, connect
from penstock.db.migrator import migrate
from penstock.db.roles import ROLE_NAMES
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
    """Or newer: since 16 whoever makes a role is a member of it; before, nobody was and any could join."""
    return connection.get_server_version().major >= 16


async def test_an_owner_who_is_no_superuser_can_migrate(empty_database: Database, folder: Path) -> None:
    async with owner_login(empty_database) as connection:
        report = await migrate(connection)
        assert report.migrations
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
            await admin.execute("set local session authorization penstock_keeper")
            with pytest.raises(UnsafeRole, match="penstock_keeper"):
                await assert_safe_role(admin)
    async with database.connect("runtime") as runtime, database.connect("operator") as operator:
        await assert_safe_role(runtime)
        await assert_safe_role(operator)
