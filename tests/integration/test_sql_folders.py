"""A user's own SQL is migrated after Penstock's, with a ledger of its own, and held to the same rules."""

from __future__ import annotations

from pathlib import Path

import asyncpg
import pytest

from penstock.db import Connection
from penstock.db.migrator import assert_migrated, migrate, status
from penstock.errors import (
    DatabaseNewer,
    MigrationChanged,
    NotMigrated,
    SqlFileFailed,
    SqlFolderInvalid,
    SqlRulesBroken,
)
from penstock.sql import load
from tests.plugins.database import Database
from tests.plugins.own_folder import COUNT_GATES, read, write
from tests.plugins.sql_folder import add
from tests.sql.document_calls import document_calls, tenant_transaction


async def applied(connection: Connection) -> list[tuple[str, int]]:
    rows = await connection.fetch("select folder, version from internal.own_migration order by 1, 2")
    return [(row["folder"], row["version"]) for row in rows]


async def test_a_folder_is_migrated_once_after_penstock_with_a_ledger_of_its_own(
    empty_database: Database, own_sql: Path
) -> None:
    async with empty_database.connect() as connection:
        (report,) = (await migrate(connection, folders=[read(own_sql)])).folders
        assert (report.name, report.version, report.migrations) == ("mill", 1, ("migrations/0001_gates.sql",))
        assert await applied(connection) == [("mill", 1)]
        versions = await connection.fetch("select version from internal.migration")
        assert len(versions) == load().version, "Penstock's own ledger knows nothing of it"
        assert not (await migrate(connection, folders=[read(own_sql)])).changed
        (found,) = (await status(connection, folders=[read(own_sql)])).folders
        assert (found.database_version, found.code_version, found.pending) == (1, 1, ())


async def test_a_changed_function_is_applied_again_and_a_removed_one_is_dropped(
    database: Database, own_sql: Path
) -> None:
    async with database.connect() as connection:
        await migrate(connection, folders=[read(own_sql)])
        path = "mill/functions/count_gates.sql"
        write(own_sql, path, COUNT_GATES.replace("select count(*)", "select 1 + count(*)"))
        (found,) = (await status(connection, folders=[read(own_sql)])).folders
        assert found.pending == (path,)
        (report,) = (await migrate(connection, folders=[read(own_sql)])).folders
        assert report.objects == (path,)
        (own_sql / path).unlink()
        (own_sql / "mill/grants/gates.sql").write_text("-- Nobody calls anything.\n")
        (report,) = (await migrate(connection, folders=[read(own_sql)])).folders
        assert report.dropped == (path,)
        assert await connection.fetchval("select to_regproc('mill.count_gates') is null")


async def test_its_tables_are_bound_by_row_security_and_its_grants_hold(
    database: Database, own_sql: Path
) -> None:
    async with database.connect() as connection:
        await migrate(connection, folders=[read(own_sql)])
    async with document_calls(database) as calls:
        ours, theirs = [await calls.create_tenant(slug) for slug in ("ours", "theirs")]
        await calls.admin.execute(
            "insert into mill.gate (tenant_id, name) values ($1, 'upper'), ($2, 'lower')",
            ours.tenant_id,
            theirs.tenant_id,
        )
        async with tenant_transaction(calls.runtime, ours):
            assert await calls.runtime.fetchval("select mill.count_gates()") == 1
        with pytest.raises(asyncpg.InsufficientPrivilegeError):
            await calls.runtime.fetch("select from mill.gate")
        async with calls.admin.transaction():
            await calls.admin.execute("set local role penstock_owner")
            assert await calls.admin.fetch("select from mill.gate") == []


async def test_rows_and_triggers_are_applied_after_the_functions_they_need(
    database: Database, own_sql: Path
) -> None:
    """And again with every change; a trigger calls a function of the same folder."""
    trigger = "-- Names are short.\ncreate or replace trigger gate_is_named before insert on mill.gate\n"
    write(own_sql, "mill/triggers/gate.sql", f"{trigger}for each row execute function mill.name_gate();\n")
    body = "begin\n  new.name := left(new.name, 3);\n  return new;\nend;"
    write(
        own_sql,
        "mill/functions/name_gate.sql",
        "-- Shortens a name.\ncreate or replace function mill.name_gate() returns trigger language plpgsql\n"
        f"set search_path = pg_catalog, pg_temp as $$\n{body}\n$$;\n",
    )
    rows = "insert into internal.source_kind values ('mill_box', 'Mill box', 'item') on conflict do nothing"
    write(own_sql, "mill/rows/source_kind.sql", f"-- A provider of our own.\n{rows};\n")
    async with database.connect() as connection:
        await migrate(connection, folders=[read(own_sql)])
        assert await connection.fetchval("select count(*) from internal.source_kind where kind = 'mill_box'")
        assert not (await migrate(connection, folders=[read(own_sql)])).changed
    async with document_calls(database) as calls:
        tenant = await calls.create_tenant("mill")
        gate = "insert into mill.gate (tenant_id, name) values ($1, 'upper') returning name"
        assert await calls.admin.fetchval(gate, tenant.tenant_id) == "upp"


async def test_an_upgrade_of_penstock_collides_with_nothing(
    database: Database, own_sql: Path, folder: Path
) -> None:
    """Any number, a function of the same name, a table changed under a view, and all grants again."""
    async with database.connect() as connection:
        await migrate(connection, folders=[read(own_sql)])
        version = load().version
        for number in range(1, 3):
            add(folder, f"migrations/{version + number:04}_gates.sql", "-- Later.\nselect 1;\n")
        add(
            folder,
            f"migrations/{version + 3:04}_title.sql",
            "-- Later.\nalter table ingest.document alter column title type varchar(10000);\n",
        )
        add(folder, "comms/functions/count_gates.sql", COUNT_GATES.replace("mill.count", "comms.count"))
        with (folder / "queues/grants/functions.sql").open("a") as file:
            file.write("-- Later.\n")
        report = await migrate(connection, load(folder), [read(own_sql)])
        assert len(report.migrations) == 3
        assert "mill/views/document_names.sql" in report.folders[0].objects
        assert await applied(connection) == [("mill", 1)]
        assert await connection.fetchval(
            "select has_function_privilege('penstock_api', 'mill.count_gates()', 'execute')"
        )
        assert not (await migrate(connection, load(folder), [read(own_sql)])).changed


async def test_a_function_that_changes_its_shape_takes_views_along_and_names_what_else_depends_on_it(
    database: Database, own_sql: Path, folder: Path
) -> None:
    path = "comms/functions/answer.sql"
    function = (
        "-- An answer.\ncreate or replace function comms.answer() returns {0} language sql immutable as $$\n"
    )
    function += "  select 42::{0};\n$$;\n"
    view = (
        "-- The answer.\ncreate or replace view mill.answer as\nselect t.tenant_id, comms.answer() as answer"
    )
    write(own_sql, "mill/views/answer.sql", view + "\nfrom accounts.tenant t;\n")
    async with database.connect() as connection:
        for kind in ("integer", "bigint"):
            add(folder, path, function.format(kind))
            await migrate(connection, load(folder), [read(own_sql)])
        found = (
            "select format_type(atttypid, null) from pg_attribute where attrelid = 'mill.answer'::regclass"
        )
        assert await connection.fetchval(f"{found} and attname = 'answer'") == "bigint"
        column = "alter table mill.gate add answer bigint default comms.answer();"
        write(own_sql, "migrations/0002_answer.sql", f"-- Depends on it.\n{column}\n")
        await migrate(connection, load(folder), [read(own_sql)])
        add(folder, path, function.format("smallint"))
        with pytest.raises(SqlFolderInvalid, match=r"mill\.gate") as refused:
            await migrate(connection, load(folder), [read(own_sql)])
        assert refused.value.path == str(own_sql)


async def test_an_upgrade_without_the_users_folder_keeps_its_grants(
    database: Database, own_sql: Path, folder: Path
) -> None:
    async with database.connect() as connection:
        await migrate(connection, folders=[read(own_sql)])
        with (folder / "queues/grants/functions.sql").open("a") as file:
            file.write("-- Later.\n")
        await migrate(connection, load(folder))
        assert await connection.fetchval(
            "select has_function_privilege('penstock_api', 'mill.count_gates()', 'execute')"
        )
        (absent,) = (await status(connection, load(folder))).folders
        assert (absent.name, absent.path, absent.database_version, absent.code_version) == (
            "mill",
            None,
            1,
            None,
        )


async def test_a_process_refuses_a_database_that_has_another_version_of_the_folder(
    database: Database, own_sql: Path
) -> None:
    async with database.connect() as connection, database.connect("runtime") as runtime:
        with pytest.raises(NotMigrated, match="penstock migrate") as behind:
            await assert_migrated(runtime, folders=[read(own_sql)])
        assert behind.value.folder == str(own_sql)
        write(own_sql, "migrations/0002_more.sql", "-- More.\nselect 1;\n")
        await migrate(connection, folders=[read(own_sql)])
        await assert_migrated(runtime, folders=[read(own_sql)])
        (own_sql / "migrations/0002_more.sql").unlink()
        with pytest.raises(DatabaseNewer) as ahead:
            await assert_migrated(runtime, folders=[read(own_sql)])
        assert str(own_sql) in str(ahead.value)
        with pytest.raises(DatabaseNewer):
            await migrate(connection, folders=[read(own_sql)])


async def test_an_edited_migration_is_refused_and_named_with_its_folder(
    database: Database, own_sql: Path
) -> None:
    async with database.connect() as connection:
        await migrate(connection, folders=[read(own_sql)])
        with (own_sql / "migrations/0001_gates.sql").open("a") as file:
            file.write("-- A later thought.\n")
        with pytest.raises(MigrationChanged) as refused:
            await migrate(connection, folders=[read(own_sql)])
    assert refused.value.path == str(own_sql / "migrations/0001_gates.sql")


async def test_a_file_that_postgres_rejects_is_named_with_its_line_and_nothing_is_written(
    database: Database, own_sql: Path, folder: Path
) -> None:
    path = "migrations/0002_wrong.sql"
    write(own_sql, path, "-- Wrong.\ncreate table mill.half (\n  id integr\n);\n")
    add(folder, f"migrations/{load().version + 1:04}_later.sql", "-- Later.\ncreate table queues.later ();\n")
    async with database.connect() as connection:
        with pytest.raises(SqlFileFailed, match="integr") as refused:
            await migrate(connection, load(folder), [read(own_sql)])
        assert (refused.value.path, refused.value.line) == (str(own_sql / path), 3)
        assert await connection.fetchval("select to_regclass('queues.later') is null"), "Penstock's neither"
        write(own_sql, path, "-- Right.\nselect 1;\n")
        bad = COUNT_GATES.replace("returns bigint", "returns bigit")
        write(own_sql, "mill/functions/count_gates.sql", bad)
        with pytest.raises(SqlFileFailed) as refused:
            await migrate(connection, folders=[read(own_sql)])
        assert refused.value.path == str(own_sql / "mill/functions/count_gates.sql")


BROKEN = {
    "a table without a tenant": (
        "migrations/0002_x.sql",
        "create table mill.shared (id bigint primary key);",
        "mill.shared: a table carries its tenant",
    ),
    "a definer without a search_path": (
        "mill/functions/open_path.sql",
        "create function mill.open_path() returns int language sql security definer as 'select 1';",
        "mill.open_path: a definer's search_path is pinned",
    ),
    "a function for everybody": (
        "mill/grants/open.sql",
        "grant execute on function mill.count_gates to public;",
        "mill.count_gates: nothing is granted to public",
    ),
    "a table for a login": (
        "mill/grants/table.sql",
        "grant select on mill.gate to penstock_api;",
        "mill.gate by penstock_api: only penstock_all_tenants has a privilege on a table",
    ),
    "a policy of its own": (
        "migrations/0002_x.sql",
        "create policy open on mill.gate using (true);",
        "mill.gate: a table carries its tenant and forces row security",
    ),
    "a foreign key without an index": (
        "migrations/0002_x.sql",
        "alter table mill.gate add document_id uuid references ingest.document;",
        "mill.gate (gate_document_id_fkey): a foreign key has an index",
    ),
    "a schema of somebody else's": (
        "migrations/0002_x.sql",
        "create schema shop;",
        "shop: a schema belongs to penstock_owner",
    ),
    "an overload": (
        "mill/grants/x.sql",
        "create function mill.count_gates(int) returns int language sql as 'select 1';",
        "mill.count_gates: no function has an overload",
    ),
    "a supervisor nobody registered": (
        "mill/functions/flood_supervisor.sql",
        "create function mill.flood_supervisor(_payload jsonb) returns jsonb language sql as 'select $1';",
        "mill.flood_supervisor: a function named like part of a process is registered",
    ),
}


@pytest.mark.parametrize("case", BROKEN)
async def test_sql_that_breaks_a_rule_is_refused_and_nothing_is_written(
    database: Database, own_sql: Path, case: str
) -> None:
    path, text, complaint = BROKEN[case]
    write(own_sql, path, f"-- Breaks a rule.\n{text}\n")
    async with database.connect() as connection:
        with pytest.raises(SqlRulesBroken) as refused:
            await migrate(connection, folders=[read(own_sql)])
        assert any(said.startswith(complaint) for said in refused.value.complaints), refused.value.complaints
        assert refused.value.folder == str(own_sql)
        assert await connection.fetchval("select to_regnamespace('mill') is null")


async def test_a_table_that_is_not_erased_with_a_tenant_is_refused_until_the_schema_can_forget_one(
    database: Database, own_sql: Path
) -> None:
    forget = own_sql / "mill/functions/forget_tenant.sql"
    text = forget.read_text()
    forget.unlink()
    async with database.connect() as connection:
        with pytest.raises(SqlRulesBroken, match="forget_tenant"):
            await migrate(connection, folders=[read(own_sql)])
        forget.write_text(text)
        await migrate(connection, folders=[read(own_sql)])
    async with document_calls(database) as calls:
        ours = await calls.create_tenant("ours")
        await calls.admin.execute("insert into mill.gate (tenant_id, name) values ($1, 'x')", ours.tenant_id)
        async with tenant_transaction(calls.admin, ours):
            await calls.admin.execute("select accounts.overwrite_facts($1)", ours.tenant_id)
        assert await calls.admin.fetchval("select count(*) from mill.gate") == 0


async def test_a_table_for_every_tenant_says_so(database: Database, own_sql: Path) -> None:
    shared = "create table mill.unit (name text primary key);"
    write(own_sql, "migrations/0002_units.sql", f"-- Units.\n{shared}\n")
    async with database.connect() as connection:
        with pytest.raises(SqlRulesBroken, match="shared:"):
            await migrate(connection, folders=[read(own_sql)])
        shared += "\ncomment on table mill.unit is 'shared: units of measure';"
        write(own_sql, "migrations/0002_units.sql", f"-- Units.\n{shared}\n")
        await migrate(connection, folders=[read(own_sql)])
        gate = (
            "comment on table mill.gate is 'shared: no';\nalter table mill.gate disable row level security;"
        )
        write(own_sql, "mill/grants/x.sql", f"-- Not shared: it has a tenant.\n{gate}\n")
        with pytest.raises(SqlRulesBroken, match=r"mill\.gate: a table carries its tenant"):
            await migrate(connection, folders=[read(own_sql)])


async def test_an_existing_schema_is_refused(database: Database, own_sql: Path, tmp_path: Path) -> None:
    async with database.connect() as connection:
        await connection.execute("create schema mill")
        with pytest.raises(SqlFolderInvalid, match="already has a schema mill"):
            await migrate(connection, folders=[read(own_sql)])
        await connection.execute("drop schema mill")
        await migrate(connection, folders=[read(own_sql)])
        other = tmp_path / "other"
        write(other, "migrations/0001_x.sql", "-- X.\ncreate schema other authorization penstock_owner;\n")
        write(other, "migrations/0002_x.sql", "-- X.\ncreate schema mill authorization penstock_owner;\n")
        with pytest.raises(SqlFolderInvalid, match="SQL folder mill") as refused:
            await migrate(connection, folders=[read(other)])
        assert refused.value.path == str(other)
