"""A network that stalls, drops or breaks: the worker returns once it works again, and loses nothing."""

from __future__ import annotations

import asyncio

import pytest

from tests.chaos.work import LONG, assert_each_effect_once, declared, enqueue
from tests.plugins.proxy import Mode, proxied
from tests.plugins.workers import Books, Crew, Mill, eventually, working

TASKS = 1_000 if LONG else 300
OUTAGE_SECONDS = 2.5
"""Longer than the lease of 1.5 s."""


@pytest.mark.parametrize(
    ("mode", "task_type"),
    [
        (Mode.CLOSE, "effect"),
        (Mode.DEAF, "effect"),
        # Of the worker's own lines: a handler's statement on a swallowed connection waits for the kernel.
        (Mode.BLACK_HOLE, "plain"),
    ],
)
async def test_a_worker_reconnects_when_the_network_is_back(
    mill: Mill, crew: Crew, mode: Mode, task_type: str
) -> None:
    loop = asyncio.get_running_loop()
    async with mill.open(mill.app()) as books, proxied(mill.database.runtime_url) as proxy:
        member = crew.spawn(url=proxy.url(mill.database.runtime_url))
        await declared(books)
        await enqueue(books.admin, task_type, TASKS, seconds=(0, 0.1))
        await eventually(lambda: _reached(books, TASKS // 5))
        proxy.mode = mode
        await asyncio.sleep(OUTAGE_SECONDS)  # the outage itself
        before = await books.completed()
        proxy.mode = Mode.PASS
        healed = loop.time()
        await eventually(lambda: _reached(books, before + 1), within=30, every=0.05)
        print(f"{mode}: working again after {loop.time() - healed:.1f} s")
        await books.drained(TASKS, within=60)
        print(f"{mode}: all done after {loop.time() - healed:.1f} s")
        if task_type == "effect":
            await assert_each_effect_once(books, TASKS)
        assert await books.count("queues.dead_letter") == 0
        assert member.poll() is None, crew.log_of(member)
        await asyncio.to_thread(crew.dismiss)
        print(f"{mode}: stopped after {loop.time() - healed:.1f} s")
        assert member.returncode == 0, crew.log_of(member)


async def _reached(books: Books, mark: int) -> bool:
    return await books.completed() >= mark


@pytest.mark.parametrize("kills", [100 if LONG else 15])
async def test_a_listener_that_is_killed_again_and_again_delays_nothing_for_long(
    mill: Mill, kills: int
) -> None:
    app = mill.app(poll_interval=30)
    loop = asyncio.get_running_loop()
    started: dict[int, float] = {}

    @app.task()
    async def note(payload: dict[str, int]) -> None:
        started[payload["n"]] = loop.time()

    delays: list[float] = []
    async with mill.open(app) as books, working(app):
        await eventually(lambda: books.count("queues.idle"), what="the worker is idle")
        for n in range(kills):
            await eventually(lambda: books.terminate("penstock listener"), what="it listens")
            asked = loop.time()
            await note.enqueue({"n": n})
            await eventually(lambda n=n: n in started, within=30, every=0.005)  # type: ignore[misc]  # bound now
            delays.append(started[n] - asked)
        await books.drained(kills)
    assert max(delays) < 2.0, delays
