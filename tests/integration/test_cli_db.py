"""penstock db: addresses, psql, backups that are complete or absent, and the embedded server's lifetime."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.db.embedded.server import EmbeddedServer
from penstock.db.programs import for_libpq
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database


@pytest.fixture
def embedded() -> Iterator[CommandLine]:
    """penstock on an embedded server of its own, not made yet."""
    folder = Path(tempfile.mkdtemp(prefix="penstock-cli-"))
    folder.chmod(0o755)
    yield CommandLine(folder, {"PENSTOCK_DATA_DIR": "data"})
    EmbeddedServer(folder / "data").destroy()
    shutil.rmtree(folder, ignore_errors=True)


def runs(embedded: CommandLine) -> bool:
    return EmbeddedServer(embedded.folder / "data").running()


def test_url_names_the_login_of_each_role(penstock: CommandLine, database: Database) -> None:
    assert penstock("db", "url").out == f"{database.runtime_url}\n"
    assert penstock("db", "url", "--role", "operator").out == f"{database.operator_url}\n"
    assert penstock("db", "url", "--role", "admin").out == f"{database.admin_url}\n"
    assert penstock("db", "url", "--role", "king").code == 2


def test_psql_runs_what_follows_the_dashes(penstock: CommandLine) -> None:
    ended = penstock("db", "psql", "--", "-Atc", "select session_user")
    assert (ended.code, ended.out) == (0, "penstock_operator\n")
    assert penstock("db", "psql", "--", "-c", "nonsense").code == 1


def test_a_backup_comes_back(
    penstock: CommandLine, embedded: CommandLine, empty_database: Database, tmp_path: Path
) -> None:
    penstock("db", "psql", "--", "-qc", "select queues.enqueue('email', '{\"to\": 1}')")
    file = tmp_path / "all.dump"
    ended = penstock("db", "backup", str(file))
    assert ended.code == 0
    assert "neither the original files nor the vault key; penstock backup includes them" in ended.err
    assert file.stat().st_mode & 0o077 == 0
    other = penstock.with_variables(
        PENSTOCK_DATABASE_URL=empty_database.runtime_url,
        PENSTOCK_OPERATOR_URL=empty_database.operator_url,
        PENSTOCK_ADMIN_URL=empty_database.admin_url,
    )
    would = other("db", "restore", str(file), "--dry-run", "--json").json
    assert (would["dry_run"], would["bytes"]) == (True, file.stat().st_size)
    assert other("db", "restore", str(file), "--dry-run").out.startswith("Would restore")
    assert embedded("db", "restore", str(file), "--dry-run", "--json").json["dry_run"]
    assert not (embedded.folder / "data").exists(), "a dry run creates no database"
    assert other("db", "restore", str(tmp_path / "no.dump"), "--dry-run", "--json").error["field"] == "file"
    assert other("db", "restore", str(file)).err == ""
    assert other("db", "restore", str(file), "--dry-run", "--json").error["field"] == "database"
    assert other("task", "list", "--state", "ready", "--json").json["tasks"][0]["task_type"] == "email"
    again = other("db", "restore", str(file), "--json")
    assert (again.code, again.error["field"]) == (1, "database")


async def test_a_dump_from_before_the_migrations_were_rewritten_is_refused_as_such(
    penstock: CommandLine, database: Database, tmp_path: Path
) -> None:
    file = tmp_path / "old.dump"
    async with database.connect() as admin:
        await admin.execute("alter schema all_tenants rename to keeping")
    assert penstock("db", "backup", str(file)).code == 0
    async with database.connect() as admin:
        await admin.execute("alter schema keeping rename to all_tenants")
    ended = penstock("db", "restore", str(file), "--json")
    assert (ended.code, ended.error["code"]) == (3, "schema_replaced")
    assert "old.dump has the schema of an earlier development version" in ended.error["message"]


def test_a_backup_replaces_nothing_without_force_and_leaves_no_partial_file(
    penstock: CommandLine, tmp_path: Path
) -> None:
    folder = tmp_path / "backups"
    folder.mkdir()
    file = folder / "all.dump"
    file.write_text("precious")
    ended = penstock("db", "backup", str(file), "--json")
    assert (ended.code, ended.error["field"]) == (1, "file")
    assert "--force" in ended.error["remedy"]
    away = penstock.with_variables(PENSTOCK_ADMIN_URL="postgresql://nobody@127.0.0.1:1/none")
    failed = away("db", "backup", str(file), "--force")
    assert failed.code == 1
    assert failed.err.startswith("error: pg_dump failed: ")
    assert file.read_text() == "precious"
    assert penstock("db", "backup", str(file), "--force").code == 0
    assert [entry.name for entry in folder.iterdir()] == ["all.dump"]


def test_a_password_is_never_an_argument() -> None:
    url, environment = for_libpq("postgresql://ann:s%40cret@db/shop?sslmode=require")
    assert url == "postgresql://ann@db/shop?sslmode=require"
    assert environment["PGPASSWORD"] == "s@cret"
    url, environment = for_libpq("postgresql:///shop?user=ann&password=p%26w&host=/run/pg")
    assert (url, environment["PGPASSWORD"]) == ("postgresql:///shop?user=ann&host=/run/pg", "p&w")


def test_stop_is_for_the_embedded_server(penstock: CommandLine) -> None:
    ended = penstock("db", "stop", "--json")
    assert (ended.code, ended.error["field"]) == (1, "database_url")


def test_commands_leave_the_embedded_server_as_they_found_it(embedded: CommandLine) -> None:
    assert embedded("migrate").code == 0
    assert not runs(embedded)
    queues = embedded("queue", "stats", "--json").json["queues"]
    assert "default" in [row["queue"] for row in queues]
    assert not runs(embedded)
    ended = embedded("db", "url")
    assert "penstock db stop" in ended.err
    assert runs(embedded)
    assert embedded("doctor").code == 0
    assert runs(embedded)
    assert embedded("worker", "--until-empty").code == 0
    assert embedded("db", "stop").code == 0
    assert not runs(embedded)
    assert embedded("db", "stop", "--json").json["was_running"] is False
