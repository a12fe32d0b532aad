"""Workers of a test: an app on its database, workers inside the test, and processes to be killed."""

from __future__ import annotations

import asyncio
import inspect
import os
import signal
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Iterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, cast

import pytest

from penstock import Penstock
from penstock.db import Connection
from penstock.engine.tasks import Tasks
from penstock.worker import Worker
from tests.plugins.busy import stretched
from tests.plugins.database import Database
from tests.plugins.forked import INTERPRETER, plain_variables, start

ROOT = Path(__file__).parents[2]

# No unique constraint: a second effect must be seen, not refused.
EFFECT = """
create table public.effect (
  task_id bigint, lease_id bigint, worker_id integer, n integer, note text,
  at timestamptz not null default clock_timestamp());
grant select, insert on public.effect to penstock_runtime;
"""


SOON, LATER = 0.02, 0.1


async def eventually(
    condition: Callable[[], object], *, within: float = 15.0, every: float | None = None, what: str = ""
) -> None:
    """Wait until the condition, a function or a coroutine function, is true; tests wait by nothing else.

    It looks often at first and then less, because looking takes the time of what it waits for; `every` is for
    a moment that must not be missed.
    """
    began = time.monotonic()
    allowed, is_stretched = within, False
    pause = SOON if every is None else every
    while True:
        answer = condition()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return
        if time.monotonic() > began + allowed and not is_stretched:
            allowed, is_stretched = stretched(within), True  # more if the machine is busy
        if time.monotonic() > began + allowed:
            pytest.fail(f"not within {allowed:g} s: {what or inspect.getsource(condition).strip()}")
        await asyncio.sleep(pause)
        if every is None:
            pause = min(pause * 1.25, LATER)


class Books:
    """What the database has on the tasks, read as the administrator."""

    def __init__(self, admin: Connection) -> None:
        self.admin = admin

    async def value(self, query: str, *args: object) -> Any:
        return await self.admin.fetchval(query, *args)

    async def count(self, table: str, where: str = "true") -> int:
        return cast("int", await self.admin.fetchval(f"select count(*) from {table} where {where}"))

    async def state(self, task_id: int) -> str:
        return cast("str", await self.admin.fetchval("select queues.task_state($1)", task_id))

    async def outcomes(self, task_id: int) -> list[str]:
        """How each lease of a task ended, in order."""
        rows = await self.admin.fetch(
            "select outcome::text from queues.attempt where task_id = $1 order by closed_at, attempt_id",
            task_id,
        )
        return [row["outcome"] for row in rows]

    async def completed(self) -> int:
        """Tasks completed at least once."""
        return cast(
            "int",
            await self.admin.fetchval(
                "select count(distinct task_id) from queues.attempt where outcome = 'completed'"
            ),
        )

    async def becomes(self, task_id: int, state: str, *, within: float = 15.0) -> None:
        async def reached() -> bool:
            return await self.state(task_id) == state

        try:
            await eventually(reached, within=within, what=f"task {task_id} is {state}")
        except pytest.fail.Exception as error:
            pytest.fail(f"{error}; it is {await self.state(task_id)}: {await self.outcomes(task_id)}")

    async def drained(self, count: int, *, within: float = 60.0) -> None:
        """Wait until this many tasks are completed; then nothing is pending and every promise holds."""

        async def done() -> bool:
            return await self.completed() >= count

        try:
            await eventually(done, within=within, every=0.05, what=f"{count} tasks are completed")
        except pytest.fail.Exception as error:
            pytest.fail(f"{error}; {await self.summary()}")
        assert await self.completed() == count
        for table in ("ready", "lease", "waiting", "parked"):
            assert await self.count(f"queues.{table}") == 0, table
        await self.assert_sound()

    async def assert_sound(self) -> None:
        broken = await self.admin.fetch("select * from queues.audit_invariants()")
        assert not broken, [tuple(row) for row in broken]

    async def summary(self) -> dict[str, object]:
        """For the message of a failed test."""
        tables = ("ready", "lease", "waiting", "parked", "dead_letter")
        rows = await self.admin.fetch("select outcome::text, count(*) from queues.attempt group by 1")
        return {name: await self.count(f"queues.{name}") for name in tables} | {
            row[0]: row[1] for row in rows
        }

    async def terminate(self, application_name: str) -> int:
        """End the connections of this name in this database; how many there were."""
        return cast(
            "int",
            await self.admin.fetchval(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                " where application_name = $1 and datname = current_database()",
                application_name,
            ),
        )

    async def connections(self) -> dict[str, int]:
        """Open connections to this database by name, the administrator's own aside."""
        rows = await self.admin.fetch(
            "select application_name, count(*) from pg_stat_activity"
            " where datname = current_database() and pid <> pg_backend_pid()"
            " and backend_type = 'client backend' group by 1"
        )
        return {row[0]: row[1] for row in rows}


class Mill:
    """An app on the test's database, with leases short enough to watch them run out."""

    def __init__(self, database: Database) -> None:
        self.database = database

    def app(self, **settings: object) -> Penstock:
        defaults: dict[str, Any] = {
            "database_url": self.database.runtime_url,
            "operator_url": self.database.operator_url,
            "admin_url": self.database.admin_url,
            "lease_seconds": 5.0,
            "beat_seconds": 0.5,
            "grace_seconds": 5.0,
        }
        return Penstock(**{**defaults, **settings})

    @asynccontextmanager
    async def open(self, app: Tasks) -> AsyncIterator[Books]:
        """The app open, the table of effects made, and a look into the database."""
        async with self.database.connect("admin", name="books") as admin:
            if await admin.fetchval("select to_regclass('public.effect')") is None:
                await admin.execute(EFFECT)
            async with app:
                yield Books(admin)

    @asynccontextmanager
    async def operator(self) -> AsyncIterator[Connection]:
        async with self.database.connect("operator", name="operator") as connection:
            yield connection


@asynccontextmanager
async def working(
    app: Tasks,
    queues: Sequence[str] | Mapping[str, int] | None = None,
    *,
    grace: float | None = None,
    **options: Any,
) -> AsyncIterator[Worker]:
    """A worker inside the test, shut down gracefully at the end."""
    worker = app.worker(queues, **options)
    try:
        await worker.start()
        yield worker
    finally:
        await worker.stop(grace)


@dataclass(slots=True)
class Crew:
    """Worker processes of a test; none of them outlives it."""

    database: Database
    log_dir: Path
    members: list[subprocess.Popen[bytes]] = field(default_factory=list)

    def spawn(
        self, module: str = "tests.chaos.hands", *arguments: str, url: str | None = None, **settings: object
    ) -> subprocess.Popen[bytes]:
        """Start a worker process; settings are those of Penstock, in lower case."""
        chosen: dict[str, object] = {
            "database_url": url or self.database.runtime_url,
            "lease_seconds": 1.5,
            "beat_seconds": 0.3,
            "grace_seconds": 5,
            "log_format": "json",
            **settings,
        }
        others = ("PENSTOCK_", "PG", *INTERPRETER)  # with a PYTHON… of the caller's it could not be forked
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith(others)},
            **plain_variables(),
            **{f"PENSTOCK_{name.upper()}": str(value) for name, value in chosen.items()},
        }
        with self._log(len(self.members)).open("wb") as log:
            member = start((module, *arguments), ROOT, environment, stdin=None, stdout=log, stderr=log)
        self.members.append(member)
        return member

    def log_of(self, member: subprocess.Popen[bytes]) -> str:
        return self._log(self.members.index(member)).read_text(errors="replace")

    def logs(self) -> str:
        return "".join(self._log(n).read_text(errors="replace") for n in range(len(self.members)))

    def kill(self, member: subprocess.Popen[bytes]) -> None:
        member.kill()
        member.wait(10)

    def dismiss(self) -> None:
        """Let all shut down gracefully, and kill those that do not."""
        for member in self.members:
            if member.poll() is None:
                member.send_signal(signal.SIGCONT)
                member.terminate()
        for member in self.members:
            try:
                member.wait(15)
            except subprocess.TimeoutExpired:
                self.kill(member)

    def end(self) -> None:
        for member in self.members:
            if member.poll() is None:
                self.kill(member)

    def _log(self, number: int) -> Path:
        return self.log_dir / f"worker-{number}.log"


async def ended(member: subprocess.Popen[bytes], *, within: float = 15.0) -> int:
    """The exit code of a process."""
    await eventually(lambda: member.poll() is not None, within=within, what=f"process {member.pid} ends")
    assert member.returncode is not None
    return member.returncode


@pytest.fixture
def mill(database: Database) -> Mill:
    return Mill(database)


@pytest.fixture
def crew(database: Database, tmp_path: Path) -> Iterator[Crew]:
    crew = Crew(database, tmp_path)
    yield crew
    crew.end()
