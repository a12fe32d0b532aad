"""A user's own SQL on the command line: migrate, status, check and doctor, by setting and by entry point."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import pytest

from penstock.db.embedded.server import EmbeddedServer
from tests.plugins.command_line import CommandLine
from tests.plugins.own_folder import COUNT_GATES, write, write_mill


@pytest.fixture
def mill_line(penstock: CommandLine, own_sql: Path) -> CommandLine:
    return penstock.with_variables(PENSTOCK_SQL_DIR=str(own_sql))


def install(site: Path, value: str, name: str = "mill", group: str = "penstock.sql") -> Path:
    """A package as pip leaves it behind: its modules beside a folder that names its entry points."""
    info = site / f"{name}_package-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}-package\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[{group}]\n{name} = {value}\n")
    return site


def test_migrate_status_and_doctor_show_both_ledgers(mill_line: CommandLine, own_sql: Path) -> None:
    behind = mill_line("migrate", "--check", "--json")
    assert behind.code == 3
    (folder,) = behind.json["folders"]
    assert (folder["name"], folder["path"], folder["origin"]) == ("mill", str(own_sql), "PENSTOCK_SQL_DIR")
    assert "migrations/0001_gates.sql" in folder["pending"]
    assert "penstock migrate" in mill_line("queue", "stats").err, (
        "a command refuses a database that is behind"
    )
    done = mill_line("migrate")
    assert f"applied {own_sql}/migrations/0001_gates.sql" in done.out
    assert "mill at 1" in done.out
    assert mill_line("queue", "stats").code == 0
    ours, theirs = mill_line("db", "status", "--json").json["ledgers"]
    assert (ours["folder"], theirs["folder"]) == ("penstock", "mill")
    assert (theirs["database_version"], theirs["code_version"], theirs["pending"]) == (1, 1, [])
    assert (
        f"mill: database 1, code 1, nothing pending (PENSTOCK_SQL_DIR: {own_sql})"
        in mill_line("db", "status").out
    )
    checks = {check["check"]: check for check in mill_line("doctor", "--json").json["checks"]}
    assert checks["migrations"]["status"] == "ok"
    assert checks["migrations"]["message"].endswith(", mill 1")


def test_the_embedded_server_is_migrated_with_it_by_whatever_starts_it(own_sql: Path) -> None:
    folder = Path(tempfile.mkdtemp(prefix="penstock-cli-"))
    folder.chmod(0o755)
    try:
        line = CommandLine(folder, {"PENSTOCK_DATA_DIR": "data", "PENSTOCK_SQL_DIR": str(own_sql)})
        assert line("tenant", "create", "default").code == 0
        status = line("db", "status", "--json").json
        assert status["current"]
        assert [ledger["folder"] for ledger in status["ledgers"]] == ["penstock", "mill"]
        write(own_sql, "migrations/0002_more.sql", "-- More.\nselect 1;\n")
        assert line("queue", "stats").code == 0
        assert line("db", "status", "--json").json["ledgers"][1]["database_version"] == 2
    finally:
        EmbeddedServer(folder / "data").destroy()
        shutil.rmtree(folder, ignore_errors=True)


def test_doctor_warns_when_the_folder_is_not_here(mill_line: CommandLine) -> None:
    assert mill_line("migrate").code == 0
    without = CommandLine(
        mill_line.folder, {k: v for k, v in mill_line.variables.items() if k != "PENSTOCK_SQL_DIR"}
    )
    checks = {check["check"]: check for check in without("doctor", "--json").json["checks"]}
    assert checks["migrations"]["status"] == "warn"
    assert "PENSTOCK_SQL_DIR" in checks["migrations"]["remedy"]
    assert "mill: database 1, its folder is missing here" in without("db", "status").out


def test_an_installed_package_brings_its_sql_by_an_entry_point(penstock: CommandLine, tmp_path: Path) -> None:
    site = install(tmp_path / "site", "water_mill.sql")
    write_mill(site / "water_mill" / "sql")
    (site / "water_mill" / "__init__.py").write_text("raise RuntimeError('nobody needs to import me')\n")
    line = penstock.with_variables(PYTHONPATH=str(site))
    assert "mill at 1" in line("migrate").out
    (_, found) = line("db", "status", "--json").json["ledgers"]
    assert (found["origin"], found["path"]) == ("mill-package 1.0", str(site / "water_mill" / "sql"))
    both = line.with_variables(PENSTOCK_SQL_DIR=str(site / "water_mill" / "sql"))
    assert len(both("db", "status", "--json").json["ledgers"]) == 2, "the same folder twice is one"


@pytest.mark.parametrize(
    ("value", "reason"),
    [("no_mill.sql", "there is no package no_mill"), ("water_mill.sqlx", "there is no folder")],
)
def test_an_entry_point_that_leads_nowhere_is_named(
    penstock: CommandLine, tmp_path: Path, value: str, reason: str
) -> None:
    site = install(tmp_path / "site", value)
    write_mill(site / "water_mill" / "sql")
    ended = penstock.with_variables(PYTHONPATH=str(site))("migrate")
    assert (ended.code, ended.out) == (1, "")
    assert "entry point mill in penstock.sql of the package mill-package" in ended.err
    assert reason in ended.err
    assert "pip uninstall mill-package" in ended.err


def test_a_channel_that_cannot_be_imported_keeps_the_worker_from_starting(
    penstock: CommandLine, tmp_path: Path
) -> None:
    site = install(tmp_path / "site", "mill_fax:Fax", "fax", "penstock.channels")
    (site / "mill_fax.py").write_text("import nothing_like_it\n")
    line = penstock.with_variables(PYTHONPATH=str(site))
    ended = line("worker", "--until-empty")
    assert (ended.code, "Traceback" in ended.err) == (1, False)
    assert f"{site}/mill_fax.py:1" in ended.err
    assert "entry point fax in penstock.channels of the package fax-package" in ended.err
    assert line("queue", "stats").code == 0, "what needs no channel works on"


def test_a_missing_folder_is_named_with_its_setting(penstock: CommandLine, tmp_path: Path) -> None:
    nowhere = tmp_path / "nowhere"
    ended = penstock.with_variables(PENSTOCK_SQL_DIR=str(nowhere))("migrate")
    assert ended.code == 1
    assert f"{nowhere}: there is no such folder" in ended.err
    assert "PENSTOCK_SQL_DIR" in ended.err


def test_check_reads_every_file_by_the_rules_and_touches_no_database(own_sql: Path, tmp_path: Path) -> None:
    bare = CommandLine(tmp_path, {})
    good = bare("db", "check", str(own_sql), "--json")
    assert (good.code, good.json["files"], good.json["complaints"]) == (0, 5, [])
    write(own_sql, "mill/functions/count_gates.sql", COUNT_GATES.replace("mill.gate g", "mill.gaet g"))
    write(own_sql, "mill/functions/shouted.sql", "CREATE function mill.shouted() returns int\n")
    write(own_sql, "mill/function/stray.sql", "-- In the wrong folder.\nselect 1;\n")
    bad = bare("db", "check", str(own_sql))
    assert bad.code == 1
    for said in (
        "CREATE is written in lower case",
        "function/stray.sql: nobody applies",
        "shouted.sql: no language specified",
    ):
        assert said in bad.out, bad.out
    (own_sql / "mill/functions/shouted.sql").unlink()
    assert "mill.gaet" in bare("db", "check", str(own_sql)).out
    none = bare("db", "check")
    assert (none.code, "penstock new process" in none.err) == (1, True)
