"""Several workers wait for one queue: as many wake up as there is work for, and none is left waiting."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager

import pytest

from penstock import Penstock
from penstock.worker import Worker, claimer
from tests.plugins.workers import Books, Crew, Mill, eventually, working


@pytest.fixture
def polls_once_in_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(claimer, "FIRST_POLL", 300.0)


@asynccontextmanager
async def fleet(app: Penstock, books: Books, count: int, concurrency: int) -> AsyncIterator[list[Worker]]:
    """This many workers, all asleep, in the order in which they are woken."""
    async with AsyncExitStack() as stack:
        workers = [
            await stack.enter_async_context(working(app, {"default": concurrency})) for _ in range(count)
        ]
        await eventually(
            lambda: _is(books.count("queues.idle", "load = 0 and mailbox > 0"), count), what="all sleep"
        )
        yield workers


async def _is(counted: object, number: int) -> bool:
    return bool(await counted == number)  # type: ignore[misc]  # a coroutine of Books


@pytest.mark.usefixtures("polls_once_in_five_minutes")
async def test_eight_idle_workers_make_hardly_more_claims_than_one(mill: Mill) -> None:
    app = mill.app(poll_interval=300)
    started: list[int] = []

    @app.task("note")
    async def note(payload: dict[str, int]) -> None:
        started.append(payload["n"])

    async with mill.open(app) as books, fleet(app, books, 8, 10) as workers:
        before = sum(worker.metrics.snapshot().polled for worker in workers)
        for n in range(40):
            await note.enqueue({"n": n})
            await eventually(lambda n=n: n in started, within=30, every=0.002)  # type: ignore[misc]  # bound now
        claims = sum(worker.metrics.snapshot().polled for worker in workers) - before
        assert claims <= 60, claims  # every worker looked at every task: 320
        await books.drained(40)


@pytest.mark.usefixtures("polls_once_in_five_minutes")
async def test_a_burst_wakes_as_many_workers_as_it_fills(mill: Mill) -> None:
    app = mill.app(poll_interval=300)
    together = asyncio.Event()
    running = 0

    @app.task("meet")
    async def meet(_: dict[str, int]) -> None:
        nonlocal running
        running += 1
        if running == 6:
            together.set()
        await together.wait()

    async with mill.open(app) as books, fleet(app, books, 4, 2):
        # Six at once need three workers; nobody polls, so each was woken by the one before.
        await meet.enqueue_many([{}] * 6)
        await books.drained(6)


@pytest.mark.usefixtures("polls_once_in_five_minutes")
async def test_a_long_task_leaves_the_next_to_another_worker(mill: Mill) -> None:
    app = mill.app(poll_interval=300)
    release = asyncio.Event()

    @app.task("long")
    async def long(_: dict[str, int]) -> None:
        await release.wait()

    async with mill.open(app) as books, fleet(app, books, 2, 10) as workers:

        async def spread() -> bool:
            await long.enqueue({})
            return all(worker._started() for worker in workers)

        await eventually(spread, every=0.1, what="both run something")
        release.set()
        await books.drained(await books.count("queues.task"))


async def test_a_frozen_worker_delays_a_task_by_seconds_and_the_next_not_at_all(mill: Mill) -> None:
    """Its listener still holds the mailbox, so producers believe in it until another one sweeps."""
    app = mill.app(poll_interval=300)
    started: set[int] = set()

    @app.task("note")
    async def note(payload: dict[str, int]) -> None:
        started.add(payload["n"])

    async with mill.open(app) as books, fleet(app, books, 3, 10) as (frozen, *others):
        await frozen._claimers["default"].stop()
        frozen_id = frozen.registration.worker_id if frozen.registration else 0
        n = 0
        while await books.count("queues.idle", f"worker_id = {frozen_id}"):
            assert n < 20
            await note.enqueue({"n": n})
            await eventually(lambda n=n: n in started, within=30, what="a worker sweeps")  # type: ignore[misc]  # now
            n += 1
        for worker in others:
            worker._claimers["default"]._poll = 300.0
        await note.enqueue({"n": n})
        await eventually(lambda: n in started, within=30, what="another one is told")


async def test_a_full_worker_passes_on_what_it_was_told(mill: Mill) -> None:
    """A producer chose it, worked on in its transaction, and committed when it had no slot left."""
    app = mill.app(poll_interval=300)
    release = asyncio.Event()
    started: list[str] = []

    @app.task("work")
    async def work(payload: dict[str, str]) -> None:
        started.append(payload["name"])
        if payload["name"] == "long":
            await release.wait()

    async with mill.open(app) as books, working(app, {"default": 1}) as first:
        await eventually(lambda: books.count("queues.idle", "load = 0 and mailbox > 0"))
        async with mill.database.connect("runtime", name="slow producer") as slow, slow.transaction():
            await work.enqueue({"name": "late"}, conn=slow)  # chooses the only one there is
            await work.enqueue({"name": "long"})
            await eventually(lambda: started == ["long"])
            second = app.worker({"default": 1})
            await second.start()
            await eventually(lambda: books.count("queues.idle", "load = 0 and mailbox > 0"))
            second._claimers["default"]._poll = 300.0
        await eventually(lambda: "late" in started, within=30)
        assert first._started() == 1
        release.set()
        await books.drained(2)
        await second.stop()


async def test_a_worker_killed_while_idle_delays_nothing(mill: Mill, crew: Crew) -> None:
    async with mill.open(mill.app()) as books:
        for count in (1, 2):
            crew.spawn(poll_interval=300, lease_seconds=60, beat_seconds=5)
            await eventually(lambda: _is(books.count("queues.idle", "load = 0 and mailbox > 0"), count))  # noqa: B023
        first = await books.value("select min(worker_id) from queues.idle")
        name = await books.value("select worker_name from queues.worker where worker_id = $1", first)
        crew.kill(next(member for member in crew.members if name.endswith(f":{member.pid}")))
        # For a minute nobody knows that it is lost: its lease lasts.
        await books.admin.execute("select queues.enqueue('plain', '{\"n\": 1}')")
        await books.drained(1, within=20)
        assert await books.count("queues.worker", "lost_at is not null") == 0
        await asyncio.to_thread(crew.dismiss)
