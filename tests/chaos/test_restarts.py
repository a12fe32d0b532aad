"""Postgres restarts under running workers: they continue by themselves and lose nothing."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from tests.chaos.work import LONG, assert_each_effect_once, declared, enqueue
from tests.plugins.server_of_own import ServerOfOwn
from tests.plugins.workers import Books, Crew, Mill, eventually

RESTARTS = ("immediate", "fast") * (10 if LONG else 1)
TASKS = 500 * len(RESTARTS)


async def test_workers_survive_restarts_of_postgres(server_of_own: ServerOfOwn, tmp_path: Path) -> None:
    mill = Mill(server_of_own.database)
    crew = Crew(server_of_own.database, tmp_path)
    loop = asyncio.get_running_loop()
    try:
        async with mill.open(mill.app()) as books:
            for _ in range(2):
                crew.spawn(lease_seconds=3, beat_seconds=0.5)
            await declared(books)
            await enqueue(books.admin, "effect", TASKS, seconds=(0, 0.1))
        for number, mode in enumerate(RESTARTS):
            async with mill.database.connect("admin") as admin:
                mark = TASKS * number // len(RESTARTS) + 100
                await eventually(lambda: _reached(Books(admin), mark), within=60)  # noqa: B023  # now
            await asyncio.to_thread(server_of_own.stop, mode)  # type: ignore[arg-type]  # "immediate" or "fast"
            await asyncio.to_thread(server_of_own.start)
            accepted = loop.time()
            async with mill.database.connect("admin") as admin:
                before = await Books(admin).completed()
                await eventually(lambda: _reached(Books(admin), before + 1), within=10, every=0.05)  # noqa: B023
                print(f"{mode}: claiming again {loop.time() - accepted:.1f} s after the server accepts")
        async with mill.database.connect("admin") as admin:
            books = Books(admin)
            await books.drained(TASKS, within=60)
            await assert_each_effect_once(books, TASKS)
            assert await books.count("queues.dead_letter") == 0
        for member in crew.members:
            assert member.poll() is None, crew.log_of(member)
            _assert_no_storm(crew.log_of(member))
        await asyncio.to_thread(crew.dismiss)
        assert [member.returncode for member in crew.members] == [0, 0]
    finally:
        crew.end()


async def _reached(books: Books, mark: int) -> bool:
    return await books.completed() >= mark


def _assert_no_storm(log: str) -> None:
    """A lost database is a line a second for each duty that finds out, not one for each try."""
    seconds: dict[str, int] = {}
    for line in log.splitlines():
        event = json.loads(line)
        if event["event"] in (
            "database_lost",
            "listener_lost",
            "registering_failed",
            "duty_failed",
            "claim_failed",
        ):
            seconds[event["time"][:19]] = seconds.get(event["time"][:19], 0) + 1
    assert max(seconds.values(), default=0) <= 10, seconds
