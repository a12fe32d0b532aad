"""The example project on an installed Penstock: a process of its own, a channel, a task, an upgrade."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

import penstock as package
from penstock.processes.generator import Process, Target, process_files
from penstock.sql import code_version
from tests.integration.test_new_process_in_a_project import WITHOUT
from tests.plugins.command_line import CommandLine, Ended
from tests.plugins.database import Database

EXAMPLE = Path(__file__).parents[2] / "examples" / "own_process"
ENQUEUE = """
import asyncio, sys
from uuid import UUID
from mill.tasks import CloseGate, app, close_gate

async def main() -> None:
    async with app:
        await close_gate.enqueue(CloseGate(gate=sys.argv[2]), tenant_id=UUID(sys.argv[1]))

asyncio.run(main())
"""


def install(project: Path, site: Path) -> None:
    """What pip leaves behind of the project, without a build: the package, its metadata, its entry points."""
    about = tomllib.loads((project / "pyproject.toml").read_text())["project"]
    shutil.rmtree(site, ignore_errors=True)
    shutil.copytree(project / "src" / "mill", site / "mill", ignore=shutil.ignore_patterns("__pycache__"))
    info = site / f"{about['name']}-{about['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(
        f"Metadata-Version: 2.1\nName: {about['name']}\nVersion: {about['version']}\n"
    )
    lines = []
    for group, points in about["entry-points"].items():
        lines += [f"[{group}]", *(f"{name} = {value}" for name, value in points.items())]
    (info / "entry_points.txt").write_text("\n".join(lines) + "\n")


def upgraded_penstock(folder: Path) -> None:
    """A later release: a new migration, a function called like one of the user's, and one that changed."""
    home = Path(package.__file__).parent
    shutil.copytree(home, folder / "penstock", ignore=shutil.ignore_patterns("__pycache__"))
    sql = folder / "penstock" / "sql"
    (sql / f"migrations/{code_version() + 1:04}_announce.sql").write_text(
        "-- A later release keeps notes.\ncreate table comms.note (tenant_id uuid not null);\n"
    )
    (sql / "comms/functions/kickoff_announce.sql").write_text(
        "-- Called like one of the user's.\ncreate or replace function comms.kickoff_announce()\n"
        "returns integer\nlanguage sql\nas $$\n  select 1;\n$$;\n"
    )
    with (sql / "internal/functions/decide.sql").open("a") as file:
        file.write("-- A later release says more.\n")


@contextmanager
def chat_server() -> Iterator[tuple[str, list[dict[str, Any]]]]:
    """A chat room on loopback that is busy the first time."""
    said: list[dict[str, Any]] = []
    answers = iter([503])

    class Room(BaseHTTPRequestHandler):
        def do_POST(self) -> None:  # the library's name
            body = self.rfile.read(int(self.headers["content-length"]))
            status = next(answers, 204)
            if status == 204:
                said.append(json.loads(body))
            self.send_response(status)
            self.send_header("content-length", "0")
            self.end_headers()

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002  # the library's name
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Room)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}/", said
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


def fine(ended: Ended) -> Ended:
    assert ended.code == 0, ended.out + ended.err
    return ended


async def skip_backoff(database: Database) -> None:
    """As if the failure had been an hour ago: its supervisor looks again now, and tries again."""
    async with database.connect() as admin:
        await admin.execute(
            "update mill.announce_attempt_failed set created_at = created_at - interval '1 hour'"
        )
        await admin.execute("update internal.open_root set next_check_at = internal.clock()")
        await admin.execute("update queues.waiting set due_at = internal.clock()")


async def states(database: Database) -> dict[str, str]:
    async with database.connect("operator") as operator:
        rows = await operator.fetch("select id, state from all_tenants.list_roots()")
    return {row["id"]: row["state"] for row in rows}


def test_the_example_is_what_the_command_writes(tmp_path: Path) -> None:
    """Its SQL and its test are unchanged, so that it gets every improvement of the templates."""
    shutil.copytree(EXAMPLE, tmp_path / "project", ignore=shutil.ignore_patterns("sql", "tests"))
    target = Target.at(tmp_path / "project")
    files = process_files(Process.named("announce", "mill", "chat"), target)
    assert {str(file.path): file.text for file in files} == {
        str(path.relative_to(EXAMPLE)): path.read_text()
        for path in (*EXAMPLE.rglob("*.sql"), *EXAMPLE.glob("tests/*_process.py"))
    }


@pytest.mark.timeout(180)
def test_the_examples_own_tests_pass(tmp_path: Path) -> None:
    """As its users run them: with the package installed, and a server that the tests start."""
    shutil.copytree(EXAMPLE, tmp_path / "project")
    install(tmp_path / "project", tmp_path / "site")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", *WITHOUT, "tests"],
        cwd=tmp_path / "project",
        env={**os.environ, "PYTHONPATH": str(tmp_path / "site")},
        capture_output=True,
        text=True,
        timeout=150,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]


async def test_a_users_project_runs_on_an_installed_penstock_and_survives_an_upgrade(
    database: Database, penstock: CommandLine, tmp_path: Path
) -> None:
    project, site, elsewhere, later = (tmp_path / name for name in ("project", "site", "elsewhere", "later"))
    shutil.copytree(EXAMPLE, project)
    elsewhere.mkdir()
    inside = CommandLine(project, {})
    written = fine(inside("new", "process", "grease_wheel", "--schema", "mill", "--json")).json
    assert "src/mill/sql/migrations/0002_grease_wheel.sql" in written["files"]
    assert written["files"][-1] == "tests/test_grease_wheel_process.py"
    install(project, site)

    with chat_server() as (url, said):
        line = CommandLine(elsewhere, {**penstock.variables, "PYTHONPATH": str(site), "MILL_CHAT_URL": url})
        migrated = fine(line("migrate", "--json")).json
        (own,) = migrated["folders"]
        assert (own["name"], own["origin"], own["version"]) == ("mill", "mill 1.0", 2)
        tenant = UUID(fine(line("tenant", "create", "miller", "--json")).json["tenant_id"])

        # A task of the project starts a process, whose attempts go out by the project's channel.
        fine(line.python("-c", ENQUEUE, str(tenant), "north"))
        fine(line("worker", "--app", "mill.tasks:app", "--until-empty"))
        fine(line("worker", "--until-empty", timeout=110))
        assert await states(database) == {"mill.announce/1": "open"}, "the chat was busy"
        await skip_backoff(database)
        fine(line("worker", "--until-empty", timeout=110))
        assert await states(database) == {"mill.announce/1": "succeeded"}
        assert [one["text"] for one in said] == ["The north gate is closed."]
        shown = fine(line("process", "show", "mill.announce/1", "--json")).json
        assert [attempt["outcome"] for attempt in shown["attempts"]] == ["failed", "succeeded"]

        # A later release of Penstock, and the project as it is.
        upgraded_penstock(later)
        after = CommandLine(elsewhere, {**line.variables, "PYTHONPATH": f"{later}:{site}"})
        assert "penstock migrate" in after("process", "list").err
        report = fine(after("migrate", "--json")).json
        assert report["version"] == code_version() + 1
        assert (report["folders"][0]["migrations"], report["folders"][0]["version"]) == ([], 2)
        async with database.connect("runtime") as runtime, runtime.transaction():
            await runtime.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant))
            await runtime.execute("select mill.kickoff_grease_wheel('the big one')")
            await runtime.execute("select mill.kickoff_announce('The wheel turns again.')")
        fine(after("worker", "--until-empty", timeout=110))
        assert set((await states(database)).values()) == {"succeeded"}
        assert said[-1]["text"] == "The wheel turns again."
        ledgers = fine(after("db", "status", "--json")).json
        assert ledgers["current"], ledgers
