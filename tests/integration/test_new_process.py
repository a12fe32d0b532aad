"""What `penstock new process` writes passes the checks and its own test untouched, or nothing is written."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.errors import Conflict, InvalidArgument
from penstock.scaffold import Channel, Checkout, NewFile, Process, Thing, process_files, write
from penstock.scaffold.process import LONGEST
from penstock.scaffold.template import filled
from penstock.scaffold.values import values_of
from tests.plugins.command_line import CommandLine, Ended

ROOT = Path(__file__).parents[2]
PARTS = ("src", "tests", "tools", "pyproject.toml", ".mypy_cache")

WRITTEN = {
    "sync_ledger": ("--schema", "ops"),
    "send_reminder": ("--schema", "ops", "--channel", "email"),
    "text_alarm": ("--schema", "ops", "--channel", "sms"),
    "purge_blob": ("--schema", "files", "--channel", "file_delete"),
    "n" * LONGEST: ("--schema", "s" * LONGEST, "--about", "document"),
}
"""One of each channel, in a new schema, in one that is there, and with the longest names there can be."""

WHOLE = ("sync_ledger", "send_reminder")
FEW = ("test_kicked_off_twice_it_is_one_task_with_one_attempt_at_a_time", "test_success_ends_it")


def copy(parts: tuple[str, ...], folder: Path) -> Path:
    """Parts of this checkout elsewhere; with their times, which the cache of mypy goes by."""
    for part in parts:
        source = ROOT / part
        if source.is_dir():
            shutil.copytree(source, folder / part, ignore=shutil.ignore_patterns("__pycache__"))
        elif source.is_file():
            shutil.copy2(source, folder / part)
    return folder


def penstock(*words: str, cwd: Path | None = None) -> Ended:
    return CommandLine(cwd or ROOT, {})("new", "process", *words)


def run(checkout: Path, *words: str) -> None:
    """A tool on the copy, with the copy's own code; nothing of this run reaches it."""
    plain = {name: os.environ[name] for name in ("PATH", "HOME", "LANG", "TMPDIR") if name in os.environ}
    done = subprocess.run(
        [sys.executable, *words],
        cwd=checkout,
        env={**plain, "PYTHONPATH": str(checkout / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=110,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


def files_of(folder: Path) -> set[Path]:
    return {path for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A copy of this checkout with new processes in it."""
    checkout = copy(PARTS, tmp_path_factory.mktemp("checkout"))
    for name, options in WRITTEN.items():
        ended = penstock(name, *options, "--into", str(checkout))
        assert ended.code == 0, ended.err
    yield checkout
    shutil.rmtree(checkout)


@pytest.fixture
def checkout(tmp_path: Path) -> Checkout:
    """Just what the generator looks at."""
    copy(("src/penstock/sql", "pyproject.toml"), tmp_path)
    (tmp_path / "tests" / "sql").mkdir(parents=True)
    return Checkout.at(tmp_path)


def test_a_new_process_is_formatted_and_linted(written: Path) -> None:
    tests = [f"tests/sql/test_{name}_process.py" for name in WRITTEN]
    run(written, "-m", "ruff", "format", "--no-cache", "--check", *tests)
    run(written, "-m", "ruff", "check", "--no-cache", *tests)


def test_a_new_process_is_typed(written: Path) -> None:
    run(written, "-m", "mypy", *(f"tests/sql/test_{name}_process.py" for name in WRITTEN))


def test_the_sql_of_a_new_process_is_applied_without_complaint(written: Path) -> None:
    run(written, "tools/check_sql.py")


def test_the_test_of_a_new_process_passes_untouched(written: Path) -> None:
    whole = [f"tests/sql/test_{name}_process.py" for name in WHOLE]
    few = [f"tests/sql/test_{name}_process.py::{test}" for name in set(WRITTEN) - set(WHOLE) for test in FEW]
    run(written, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:randomly", *whole, *few)


@pytest.mark.parametrize(
    "built_in",
    ["send_email_supervisor", "kickoff_send_email", "record_email_success", "record_email_failure"],
)
def test_it_writes_what_a_built_in_process_says(checkout: Checkout, built_in: str) -> None:
    """When the built-in ones learn something, so do those to come."""
    values = values_of(Process.named("send_email", "comms", Channel.EMAIL), new_schema=False)
    template = {
        "send_email_supervisor": "supervisor",
        "kickoff_send_email": "kickoff",
        "record_email_success": "record_success",
        "record_email_failure": "record_failure",
    }[built_in]
    written = filled(f"functions/{template}.sql", values)
    for handler, short in (
        ("get_send_email_payload", "get_email_payload"),
        ("record_send_email", "record_email"),
    ):
        written = written.replace(handler, short)
    there = (checkout.root / f"src/penstock/sql/comms/functions/{built_in}.sql").read_text()
    assert code_of(written) == code_of(there)


def code_of(function: str) -> list[str]:
    """The statements of a function, without its head, the names of rows and what it says to people."""
    body = function[function.index("create or replace") :]
    body = re.sub(r"\b[mr]\.", "", re.sub(r"(from comms\.email_message) [mr]\b", r"\1", body))
    body = re.sub(r"'[^']* (?:id of|message %s)[^']*'", "''", body)
    return re.sub(r"\s+", "", body).split(";")


def test_it_says_what_it_wrote_and_what_comes_next(checkout: Checkout) -> None:
    before = files_of(checkout.root)
    into = ("--into", str(checkout.root))
    tried = penstock("sync_ledger", "--schema", "ops", *into, "--dry-run", "--json").json
    assert files_of(checkout.root) == before
    done = penstock("sync_ledger", "--schema", "ops", *into, "--json").json
    assert (tried.pop("written"), done.pop("written")) == (False, True)
    assert tried == done
    assert set(done) == {"process", "channel", "about", "folder", "files", "next_steps"}
    assert (done["process"], done["channel"], done["about"]) == ("ops.sync_ledger", "db_function", "subject")
    assert {str(path.relative_to(checkout.root)) for path in files_of(checkout.root) - before} == set(
        done["files"]
    )
    shown = penstock("send_reminder", "--schema", "ops", "--channel", "email", cwd=checkout.root)
    assert "src/penstock/sql/ops/functions/send_reminder_supervisor.sql" in shown.out
    assert "make check" in shown.out


@pytest.mark.parametrize(
    ("name", "schema", "field"),
    [
        ("Sync", "ops", "name"),
        ("1sync", "ops", "name"),
        ("sync-ledger", "ops", "name"),
        ("", "ops", "name"),
        ("sync; drop table x", "ops", "name"),
        ("n" * (LONGEST + 1), "ops", "name"),
        ("sync", "../ops", "schema"),
        ("sync", "queues", "schema"),
        ("sync", "internal", "schema"),
        ("sync", "keeping", "schema"),
        ("sync", "vault", "schema"),
        ("sync", "security", "schema"),
        ("sync", "migrations", "schema"),
        ("sync", "pg_ops", "schema"),
        ("sync", "table", "schema"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name: str, schema: str, field: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        Process.named(name, schema, Channel.DB_FUNCTION)
    assert refused.value.field == field
    assert refused.value.remedy


def test_a_message_is_all_an_email_can_be_about() -> None:
    assert Process.named("ping", "ops", Channel.EMAIL).about is Thing.EMAIL_MESSAGE
    with pytest.raises(InvalidArgument, match="email message") as refused:
        Process.named("ping", "ops", Channel.EMAIL, Thing.DOCUMENT)
    assert refused.value.field == "about"


@pytest.mark.parametrize(
    ("process", "named"),
    [("comms.send_email", "process_send_email.sql"), ("files.file_deletion", "process_file_deletion.sql")],
)
def test_a_process_that_is_there_is_refused(checkout: Checkout, process: str, named: str) -> None:
    schema, name = process.split(".")
    with pytest.raises(Conflict, match=named):
        process_files(Process.named(name, schema, Channel.DB_FUNCTION), checkout)


def test_a_schema_of_another_owner_is_refused(checkout: Checkout) -> None:
    migration = checkout.root / f"src/penstock/sql/migrations/{checkout.next_migration:04}_shop.sql"
    migration.write_text("-- Not ours.\ncreate schema shop;\n")
    with pytest.raises(InvalidArgument, match="penstock_owner"):
        process_files(Process.named("sync", "shop", Channel.DB_FUNCTION), Checkout.at(checkout.root))


def test_a_file_that_is_there_is_named_and_nothing_is_written(checkout: Checkout) -> None:
    there = checkout.root / "tests/sql/test_sync_process.py"
    there.write_text("mine\n")
    before = files_of(checkout.root)
    for more in ((), ("--dry-run",)):
        ended = penstock("sync", "--schema", "ops", "--into", str(checkout.root), "--json", *more)
        assert (ended.code, ended.error["code"]) == (1, "conflict")
        assert "tests/sql/test_sync_process.py" in ended.error["message"]
    assert files_of(checkout.root) == before
    assert there.read_text() == "mine\n"
    assert not (checkout.root / "src/penstock/sql/ops").exists()


def test_a_write_that_fails_midway_leaves_nothing(tmp_path: Path) -> None:
    files = [NewFile(Path("new/one.sql"), "one"), NewFile(Path("new/one.sql/two.sql"), "two")]
    with pytest.raises(OSError, match=r"one\.sql"):
        write(tmp_path, files)
    assert list(tmp_path.iterdir()) == []


def test_outside_a_checkout_it_says_how(tmp_path: Path) -> None:
    ended = penstock("sync", "--schema", "ops", cwd=tmp_path)
    assert (ended.code, ended.out) == (1, "")
    assert "--into FOLDER" in ended.err
    assert list(tmp_path.iterdir()) == []


def test_an_unknown_channel_is_wrong_usage_and_the_known_are_named(tmp_path: Path) -> None:
    ended = penstock("sync", "--schema", "ops", "--channel", "fax", "--json", cwd=tmp_path)
    assert (ended.code, ended.error["field"]) == (2, "channel")
    assert "file_delete" in ended.error["message"]
