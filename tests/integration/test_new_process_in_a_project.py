"""`penstock new process` in a user's project writes what can be migrated as it is, or says what to do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from penstock.db.migrator import migrate
from penstock.db.sql_folders import SqlFolder, read_folder
from penstock.errors import InvalidArgument, SqlFolderInvalid
from penstock.processes.channels.names import ChannelName
from penstock.processes.generator import Process, ProcessSubject, Target, process_files, write
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database

WITHOUT = [
    "-p",
    "no:cacheprovider",
    "-p",
    "no:schemathesis",
    "-p",
    "no:hypothesispytest",
    "-p",
    "no:randomly",
]
"""Plugins of our own environment that a run of pytest does not need."""
OFFERS = """[project]
name = "mill"
version = "1.0"

[project.entry-points."penstock.sql"]
mill = "mill.sql"

[project.entry-points."penstock.channels"]
chat = "mill.chat:ChatChannel"
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "pyproject.toml").write_text(OFFERS)
    (tmp_path / "src" / "mill").mkdir(parents=True)
    return tmp_path


def created(
    project: Path, name: str, schema: str = "mill", channel: str = "db_function", **more: ProcessSubject
) -> None:
    target = Target.at(project)
    write(target.root, process_files(Process.named(name, schema, channel, more.get("about")), target))


def folder_of(project: Path) -> SqlFolder:
    found = read_folder(project / "src/mill/sql", "test")
    assert found is not None
    return found


async def test_processes_of_every_channel_are_migrated_as_they_were_written(
    database: Database, project: Path
) -> None:
    for channel in (*ChannelName, "chat"):
        created(project, f"by_{channel}", channel=channel)
    created(project, "check_document", "mill_two", about=ProcessSubject.DOCUMENT)
    async with database.connect() as connection:
        (report,) = (await migrate(connection, folders=[folder_of(project)])).folders
        assert report.version == 6
        known = await connection.fetch(
            "select process, channel from internal.process where process like 'mill%' order by 1"
        )
        assert [(row["process"], row["channel"]) for row in known] == [
            ("mill.by_chat", "chat"),
            ("mill.by_db_function", "db_function"),
            ("mill.by_email", "email"),
            ("mill.by_file_delete", "file_delete"),
            ("mill.by_sms", "sms"),
            ("mill_two.check_document", "db_function"),
        ]
        # Removed again: its functions go, and nobody looks at it any more.
        for path in (project / "src/mill/sql/mill").rglob("*by_chat*"):
            path.unlink()
        drop = "-- The chat is closed.\ndrop table mill.by_chat_attempt_succeeded,\n"
        drop += "  mill.by_chat_attempt_failed, mill.by_chat_attempt, mill.by_chat_task;\n"
        (project / "src/mill/sql/migrations/0007_no_chat.sql").write_text(drop)
        await migrate(connection, folders=[folder_of(project)])
        assert not await connection.fetch("select from internal.process where process = 'mill.by_chat'")
    async with database.connect("operator") as operator:
        assert await operator.fetch("select from all_tenants.list_roots()") == []


@pytest.mark.timeout(180)
def test_the_tests_of_new_processes_pass_untouched(project: Path) -> None:
    """One with every test, and one about a row, over a channel."""
    created(project, "remind")
    created(project, "tell", channel="email")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *WITHOUT, "tests"],
        cwd=project,
        env={**os.environ, "PENSTOCK_SQL_DIR": "src/mill/sql"},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
    assert "9 passed" in done.stdout


def test_the_setting_overrides_the_entry_point_and_the_folder_is_created(project: Path) -> None:
    (project / ".env").write_text("PENSTOCK_SQL_DIR=database\n")
    line = CommandLine(project, {})
    done = line("new", "process", "remind", "--schema", "mill", "--json").json
    assert "database/migrations/0001_remind.sql" in done["files"]
    assert "database/mill/grants/remind.sql" in done["files"]
    assert all((project / path).is_file() for path in done["files"])
    assert done["files"][-1] == "tests/test_remind_process.py"
    assert done["next_steps"][1] == "penstock db check && pytest tests/test_remind_process.py"
    elsewhere = CommandLine(project / "src", {"PENSTOCK_SQL_DIR": str(project / "database")})
    second = elsewhere("new", "process", "warn", "--schema", "mill", "--json").json
    assert str(project / "database/migrations/0002_warn.sql") in second["files"]
    assert "create schema" not in (project / "database/migrations/0002_warn.sql").read_text()


@pytest.mark.parametrize("schema", ["queues", "ingest", "comms", "accounts", "sources", "penstock_mill"])
def test_a_schema_of_penstocks_is_refused_with_the_remedy(project: Path, schema: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        created(project, "remind", schema)
    assert refused.value.field == "schema"
    assert refused.value.remedy
    assert not (project / "src/mill/sql").exists()


def test_without_a_folder_for_sql_it_says_how_to_name_one(tmp_path: Path) -> None:
    ended = CommandLine(tmp_path, {})("new", "process", "remind", "--schema", "mill")
    assert ended.code == 1
    for remedy in ("PENSTOCK_SQL_DIR", "penstock.sql", "--into FOLDER"):
        assert remedy in ended.err
    assert list(tmp_path.iterdir()) == []


def test_an_entry_point_to_no_package_and_a_broken_folder_are_refused(project: Path) -> None:
    created(project, "remind")
    (project / "src/mill/sql/migrations/0003_gap.sql").write_text("-- A gap.\nselect 1;\n")
    with pytest.raises(SqlFolderInvalid, match="0002 is next"):
        created(project, "warn")
    (project / "src" / "mill").rename(project / "src" / "other")
    with pytest.raises(InvalidArgument, match="no package mill"):
        created(project, "warn")


def test_a_users_channel_is_found_by_the_projects_entry_point(project: Path) -> None:
    line = CommandLine(project, {})
    done = line("new", "process", "announce", "--schema", "mill", "--channel", "chat", "--json").json
    assert done["channel"] == "chat"
    unknown = line("new", "process", "other", "--schema", "mill", "--channel", "fax", "--json")
    assert (unknown.code, unknown.error["field"]) == (2, "channel")
    assert "chat" in unknown.error["message"]
    assert "penstock.channels" in unknown.error["message"]
