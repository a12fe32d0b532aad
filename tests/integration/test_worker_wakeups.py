"""How a worker learns that there is something to do: NOTIFY, a poll, a reconnect, a timer."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest

from penstock import Penstock
from penstock.db import Connection
from penstock.model import WorkerId
from penstock.queue.lease_calls import LeaseCalls
from penstock.queue.task_type import TaskType
from penstock.worker import Worker, claimer
from tests.plugins.busy import stretched
from tests.plugins.workers import Books, Mill, eventually, working


def stopwatch(app: Penstock) -> tuple[TaskType[dict[str, int]], dict[int, float]]:
    """A task type whose runs leave their start times."""
    loop = asyncio.get_running_loop()
    started: dict[int, float] = {}

    @app.task("stopwatch")
    async def note(payload: dict[str, int]) -> None:
        started[payload["n"]] = loop.time()

    return note, started


def poll_of(worker: Worker) -> float:
    """How long the idle worker would sleep next if nobody woke it."""
    return worker._claimers["default"]._poll


@pytest.fixture
def polls_once_in_five_minutes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No poll finds anything while a test runs: what is found was told, timed or scanned for."""
    monkeypatch.setattr(claimer, "FIRST_POLL", 300.0)


async def idle(books: Books) -> None:
    """Wait until a worker is registered idle: from then on producers notify it."""
    await eventually(lambda: books.count("queues.idle"), what="a worker is idle")


@pytest.mark.usefixtures("polls_once_in_five_minutes")
async def test_a_notify_wakes_an_idle_worker_long_before_its_poll(mill: Mill) -> None:
    app = mill.app(poll_interval=300)
    note, started = stopwatch(app)
    async with mill.open(app) as books, working(app):
        loop = asyncio.get_running_loop()
        await idle(books)
        delays = []
        for n in range(5):
            enqueued = loop.time()
            await note.enqueue({"n": n})
            await eventually(lambda n=n: n in started, within=20, every=0.002)  # type: ignore[misc]  # bound now
            delays.append(started[n] - enqueued)
        assert sorted(delays)[2] < stretched(0.1), delays


async def test_with_notify_off_a_poll_picks_it_up(mill: Mill) -> None:
    app = mill.app(notify=False, poll_interval=0.3)
    note, _ = stopwatch(app)
    async with mill.open(app) as books, working(app) as worker:
        await eventually(lambda: poll_of(worker) >= 0.3, what="the poll has grown")
        assert await books.count("queues.idle") == 0
        await books.becomes(await note.enqueue({"n": 1}), "completed", within=20)


@pytest.mark.usefixtures("polls_once_in_five_minutes")
@pytest.mark.parametrize("kills", [1, 5])
async def test_a_lost_listener_reconnects_and_misses_nothing(mill: Mill, kills: int) -> None:
    app = mill.app(poll_interval=300)
    note, started = stopwatch(app)
    async with mill.open(app) as books, working(app):
        for n in range(kills):
            await idle(books)
            await eventually(lambda: books.terminate("penstock listener"), what="there is a listener")
            await note.enqueue({"n": n})  # nobody listens now
            await eventually(lambda n=n: n in started, within=20)  # type: ignore[misc]  # bound now
        await books.drained(kills)


@pytest.mark.usefixtures("polls_once_in_five_minutes")
async def test_a_delayed_task_starts_when_it_is_due_without_a_notify(mill: Mill) -> None:
    app = mill.app(poll_interval=300)
    note, started = stopwatch(app)
    async with mill.open(app) as books, working(app):
        loop = asyncio.get_running_loop()
        await idle(books)
        asked = loop.time()
        await note.enqueue({"n": 1}, delay=0.7)
        await eventually(lambda: 1 in started, within=20)
        assert started[1] - asked > 0.65


async def test_a_paused_queue_starts_nothing_and_resumes_at_once(mill: Mill) -> None:
    app = mill.app(poll_interval=300)
    note, started = stopwatch(app)
    async with mill.open(app) as books, mill.operator() as operator, working(app) as worker:
        await books.becomes(await note.enqueue({"n": 0}), "completed")
        await operator.execute("select queues.pause('default')")
        task = await note.enqueue({"n": 1})
        before = worker.metrics.snapshot().polled
        await eventually(lambda: worker.metrics.snapshot().polled >= before + 2, what="it looked twice")
        assert await books.state(task) == "ready"
        claimer = worker._claimers["default"]
        claimer._poll = 150.0  # the wait it begins next is so long that no poll finds the task
        await eventually(lambda: claimer._poll == 300.0, what="it waits for a wake-up")
        await operator.execute("select queues.resume('default')")
        await books.becomes(task, "completed", within=20)
        assert 1 in started


async def test_a_producer_that_commits_late_is_found_while_the_worker_is_busy(mill: Mill) -> None:
    """Its ticket lies below ten thousand that were claimed meanwhile: a single mark would strand it."""
    app = mill.app(poll_interval=30)
    note, started = stopwatch(app)
    stop = asyncio.Event()

    async def keep_busy() -> None:
        n = 1_000
        while not stop.is_set():
            await note.enqueue_many([{"n": n + k} for k in range(500)])
            n += 500
            await eventually(lambda: stop.is_set() or len(started) > n - 2_500, every=0.005)  # noqa: B023  # now

    async with mill.open(app) as books, working(app):
        async with mill.database.connect("runtime", name="late producer") as late:
            transaction = late.transaction()
            await transaction.start()
            await note.enqueue({"n": 1}, conn=late)
            producer = asyncio.create_task(keep_busy())
            try:
                await eventually(lambda: len(started) > 10_000, within=30)
                assert 1 not in started
                await transaction.commit()
                committed = asyncio.get_running_loop().time()
                await eventually(lambda: 1 in started, within=20, every=0.005)
                waited = started[1] - committed
            finally:
                stop.set()
                await producer
        assert waited < 10  # a single mark would leave it until the worker is idle
        await books.drained(await books.count("queues.task"))


@pytest.mark.usefixtures("polls_once_in_five_minutes")
async def test_many_producers_at_once_strand_nothing(mill: Mill) -> None:
    """The moment between an empty look and going idle is where a wake-up could get lost."""
    app = mill.app(poll_interval=300)
    note, started = stopwatch(app)

    async def produce(connection: Connection, first: int) -> None:
        for n in range(first, first + 100):
            await note.enqueue({"n": n}, conn=connection)
            await eventually(lambda n=n: n in started, within=60, every=0.0005)  # type: ignore[misc]  # bound now

    async with mill.open(app) as books, working(app):
        async with (
            mill.database.connect("runtime") as one,
            mill.database.connect("runtime") as two,
            mill.database.connect("runtime") as three,
        ):
            await asyncio.gather(produce(one, 0), produce(two, 1_000), produce(three, 2_000))
        await books.drained(300)


async def test_the_end_of_a_keyed_task_wakes_its_own_queue_only(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    claims: Counter[str] = Counter()
    claim = LeaseCalls.claim

    async def counted(calls: LeaseCalls, worker_id: WorkerId, queue: str, *rest: Any, **named: Any) -> Any:
        claims[queue] += 1
        return await claim(calls, worker_id, queue, *rest, **named)

    monkeypatch.setattr(LeaseCalls, "claim", counted)
    monkeypatch.setattr(claimer, "FIRST_POLL", 300.0)
    app = mill.app(poll_interval=300)
    note, started = stopwatch(app)
    async with mill.open(app) as books, working(app, ["default", "quiet"]):

        async def both_sleep() -> bool:
            return await books.count("queues.idle", "polls_until is null") == 2

        await eventually(both_sleep, what="the worker sleeps on both queues")
        before = claims["quiet"]
        for n in range(20):
            await note.enqueue({"n": n}, unique_key=f"key {n}")
            await eventually(lambda n=n: n in started)  # type: ignore[misc]  # bound now
        assert claims["default"] >= 20
        assert claims["quiet"] - before < 10  # a few by chance, when another duty looks at every queue


@pytest.mark.usefixtures("polls_once_in_five_minutes")
async def test_a_freed_key_wakes_the_task_that_waits_for_it_in_another_queue(mill: Mill) -> None:
    app = mill.app(poll_interval=300)
    started: set[str] = set()
    go_on = asyncio.Event()

    @app.task("relay")
    async def relay(payload: dict[str, str]) -> None:
        started.add(payload["leg"])
        if payload["leg"] == "first":
            await go_on.wait()

    async with mill.open(app) as books, working(app, ["default", "other"]):
        await relay.enqueue({"leg": "first"}, unique_key="baton")
        await eventually(lambda: "first" in started)
        await relay.enqueue({"leg": "second"}, queue="other", unique_key="baton", on_duplicate="coalesce")
        await eventually(lambda: books.count("queues.parked"), what="the second task is parked")
        assert "second" not in started
        go_on.set()
        await eventually(lambda: "second" in started, what="the key was handed over to the other queue")
