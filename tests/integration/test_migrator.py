"""The migrator applies each migration once and each object whenever its file changed."""

from __future__ import annotations

import asyncio
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from penstock.db import Connection
from penstock.db.migrator import assert_migrated, migrate, pending, status
from penstock.errors import DatabaseNewer, MigrationChanged, NotMigrated, SchemaReplaced
from penstock.sql import code_version, load
from tests.plugins.database import Database
from tests.plugins.sql_folder import add


async def signatures(connection: Connection, name: str) -> list[str]:
    rows = await connection.fetch(
        "select p.oid::regprocedure::text as it from pg_proc as p where p.proname = $1 order by 1", name
    )
    return [row["it"] for row in rows]


async def test_ten_at_once_migrate_a_database_once(empty_database: Database) -> None:
    async with AsyncExitStack() as stack:
        connections = [await stack.enter_async_context(empty_database.connect()) for _ in range(10)]
        reports = await asyncio.gather(*(migrate(connection) for connection in connections))
        assert sorted(bool(report.migrations) for report in reports) == [False] * 9 + [True]
        assert await pending(connections[0]) == ()


async def test_databases_of_one_server_migrate_at_the_same_time(empty_database: Database) -> None:
    names = [f"{empty_database.name}_{number}" for number in range(4)]
    async with empty_database.connect() as admin:
        for name in names:
            await admin.execute(f"create database {name} template template0")
        try:
            async with AsyncExitStack() as stack:
                connections = [
                    await stack.enter_async_context(Database(name, empty_database.server).connect())
                    for name in names
                ]
                reports = await asyncio.gather(*(migrate(connection) for connection in connections))
                assert all(report.migrations for report in reports)
        finally:
            for name in names:
                await admin.execute(f"drop database {name} with (force)")


async def test_a_second_call_does_nothing(database: Database) -> None:
    async with database.connect() as connection:
        report = await migrate(connection)
        assert not report.changed
        assert (await status(connection)).database_version == report.version


async def test_a_migration_changed_after_it_was_applied_is_refused(database: Database, folder: Path) -> None:
    with (folder / "migrations/0001_schemas_and_ledgers.sql").open("a") as file:
        file.write("-- a later thought\n")
    async with database.connect() as connection:
        with pytest.raises(MigrationChanged) as refused:
            await migrate(connection, load(folder))
    assert refused.value.path == "migrations/0001_schemas_and_ledgers.sql"


async def test_a_database_from_before_the_migrations_were_rewritten_is_told_what_to_do(
    database: Database,
) -> None:
    """Whatever its version was: the numbers of the two do not compare."""
    async with database.connect() as connection, database.connect("runtime") as runtime:
        await connection.execute("update internal.migration set name = 'schemas' where version = 1")
        await connection.execute("alter schema all_tenants rename to keeping")
        for version in (load().version, 10):
            await connection.execute(
                "insert into internal.migration (version, name, checksum) values ($1, 'own_sql', '')"
                " on conflict do nothing",
                version,
            )
            for refused in (migrate(connection), status(connection), assert_migrated(runtime)):
                with pytest.raises(SchemaReplaced, match="remove the data directory"):
                    await refused


async def test_a_database_of_newer_code_is_refused(database: Database, folder: Path) -> None:
    version = load().version
    add(folder, f"migrations/{version + 1:04}_later.sql", "create table queues.later (id integer);")
    async with database.connect() as connection, database.connect("runtime") as runtime:
        await assert_migrated(runtime)
        with pytest.raises(NotMigrated):
            await assert_migrated(runtime, load(folder))
        await migrate(connection, load(folder))
        with pytest.raises(DatabaseNewer) as refused:
            await migrate(connection)
        with pytest.raises(DatabaseNewer):
            await assert_migrated(runtime)
    assert (refused.value.database_version, refused.value.code_version) == (version + 1, version)


async def test_an_empty_database_is_distinguished_from_a_migrated_one(empty_database: Database) -> None:
    async with empty_database.connect() as connection:
        with pytest.raises(NotMigrated, match="penstock migrate"):
            await assert_migrated(connection)
        assert "migrations/0001_schemas_and_ledgers.sql" in await pending(connection)


async def test_a_failing_migration_leaves_nothing_behind(database: Database, folder: Path) -> None:
    version = load().version
    name = f"migrations/{version + 1:04}_half.sql"
    add(folder, name, "create table queues.half (id integer); select 1 / 0;")
    async with database.connect() as connection:
        with pytest.raises(Exception, match="division by zero") as failed:
            await migrate(connection, load(folder))
        assert any(name in note for note in failed.value.__notes__)
        assert await connection.fetchval("select to_regclass('queues.half')") is None
        assert not (await migrate(connection)).changed


async def test_only_changed_objects_are_applied_again(database: Database, folder: Path) -> None:
    path = "internal/functions/schema_version.sql"
    with (folder / path).open("a") as file:
        file.write("-- said better\n")
    async with database.connect() as connection:
        report = await migrate(connection, load(folder))
        assert (report.objects, report.migrations, report.dropped) == ((path,), (), ())


async def test_a_new_signature_leaves_no_overload(database: Database, folder: Path) -> None:
    path = "queues/functions/greet.sql"
    one = "create function queues.greet(_name text) returns text language sql as $$ select _name $$;"
    two = one.replace("_name text", "_name text, _times int")
    other_result = two.replace("create", "create or replace").replace("returns text", "returns varchar")
    async with database.connect() as connection:
        for text, expected in (
            (one, "queues.greet(text)"),
            (two, "queues.greet(text,integer)"),
            (other_result, "queues.greet(text,integer)"),
        ):
            add(folder, path, text)
            await migrate(connection, load(folder))
            assert await signatures(connection, "greet") == [expected]
        (folder / path).unlink()
        assert (await migrate(connection, load(folder))).dropped == (path,)
        assert await signatures(connection, "greet") == []


async def test_a_view_is_recreated_when_its_columns_or_its_function_change(
    database: Database, folder: Path
) -> None:
    function = "create function queues.answer() returns {0} language sql immutable as $$ select 42::{0} $$;"
    add(folder, "queues/functions/answer.sql", function.format("integer"))
    add(
        folder,
        "queues/views/base_answer.sql",
        "create view queues.base_answer as select queues.answer() as a;",
    )
    add(folder, "queues/views/an_answer.sql", "create view queues.an_answer as table queues.base_answer;")
    async with database.connect() as connection:
        await migrate(connection, load(folder))
        add(
            folder,
            "queues/functions/answer.sql",
            function.replace("create", "create or replace").format("bigint"),
        )
        await migrate(connection, load(folder))
        kind = "select pg_typeof(a)::text from queues.an_answer"
        assert await connection.fetchval(kind) == "bigint"
        view = "create or replace view queues.base_answer as select 'yes'::text as a;"
        add(folder, "queues/views/base_answer.sql", view)
        await migrate(connection, load(folder))
        assert await connection.fetchval(kind) == "text"
        await connection.execute("drop view queues.an_answer")
        assert await pending(connection, load(folder)) == ("queues/views/an_answer.sql",)


CATALOGUE = """
with house as (
  select oid from pg_namespace where nspname in ('internal', 'queues')
)
select
  'function' as kind,
  p.oid::regprocedure::text as name,
  pg_get_functiondef(p.oid) || p.proowner::regrole::text || coalesce(p.proacl::text, '') as definition
from pg_proc as p
where p.pronamespace in (select oid from house)
union all
select
  'relation',
  c.oid::regclass::text,
  c.relkind::text || c.relowner::regrole::text || coalesce(c.relacl::text, '')
from pg_class as c
where c.relnamespace in (select oid from house)
union all
select 'view', c.oid::regclass::text, pg_get_viewdef(c.oid)
from pg_class as c
where c.relnamespace in (select oid from house) and c.relkind = 'v'
order by 1, 2
"""


async def test_a_fresh_schema_equals_one_whose_objects_were_all_applied_again(database: Database) -> None:
    async with database.connect() as connection:
        fresh = [tuple(row) for row in await connection.fetch(CATALOGUE)]
        await connection.execute("update internal.applied_object set checksum = 'old'")
        report = await migrate(connection)
        assert len(report.objects) == len(load().objects) + len(load().security)
        assert [tuple(row) for row in await connection.fetch(CATALOGUE)] == fresh


def test_the_version_of_the_code_is_that_of_its_newest_migration() -> None:
    assert code_version() == load().version
