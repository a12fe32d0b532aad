"""`run_until_empty` runs what is due by the test's clock, and shows what the handlers raised."""

from __future__ import annotations

import asyncio
import contextlib
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from pydantic import BaseModel

from penstock import Cancel, Context, NoRetry, Penstock, Snooze, Table
from penstock.errors import InvalidArgument
from penstock.testing import (
    Clock,
    Database,
    TaskFailed,
    bound,
    claim_and_crash,
    enqueued,
    pointed_at,
    run_until_empty,
)


class Gate(BaseModel):
    name: str


class Jammed(Exception):
    """The gate does not move."""


async def test_the_first_failure_is_raised_as_the_handler_raised_it(testing_database: Database) -> None:
    app = Penstock()
    opened: list[str] = []
    problem = Jammed("no water")

    @app.task(retry=Table((0, 30)))
    async def open_gate(gate: Gate) -> None:
        opened.append(gate.name)
        raise problem

    async with bound(app, testing_database):
        await open_gate.enqueue_many([Gate(name="north"), Gate(name="south")])
        with pytest.raises(Jammed) as raised:
            await run_until_empty(app)
        assert raised.value is problem
        (note,) = problem.__notes__
        assert "'open_gate'" in note
        assert "{'name': 'north'}" in note
        assert "attempt 1" in note
        assert opened == ["north"]
        assert {task.payload["name"]: task.attempt for task in enqueued(app)} == {"north": 2, "south": 1}


async def test_results_tell_how_each_run_ended(testing_database: Database) -> None:
    app = Penstock()

    @app.task(retry=Table((0, 30)))
    async def ends(payload: dict[str, str]) -> Snooze | Cancel | None:
        match payload["how"]:
            case "retry":
                raise Jammed
            case "snooze":
                return Snooze(60)
            case "cancel":
                return Cancel("not wanted")
        return None

    @app.task(retry=NoRetry())
    async def never(payload: Gate) -> None:
        raise Jammed

    @app.task(retry=NoRetry(), time_limit=0.05)
    async def slow(payload: dict[str, str]) -> None:
        await asyncio.Event().wait()

    clock = Clock(testing_database)
    async with bound(app, testing_database):
        await ends.enqueue_many([{"how": how} for how in ("fine", "retry", "snooze", "cancel")])
        await never.enqueue(Gate(name="north"))
        await slow.enqueue({})
        testing_database.execute("select queues.enqueue('never', '{\"name\": 7}')")
        results = await run_until_empty(app, raise_errors=False)
        assert [(result.task_type, result.outcome, result.retry_in) for result in results] == [
            ("ends", "completed", None),
            ("ends", "failed", 30),
            ("ends", "snoozed", 60),
            ("ends", "cancelled", None),
            ("never", "dead", None),
            ("slow", "dead", None),
            ("never", "dead", None),
        ]
        errors = [result.error for result in results]
        assert isinstance(errors[1], Jammed)
        assert isinstance(errors[4], Jammed)
        assert isinstance(errors[5], TaskFailed)
        assert "TimeLimitExceeded" in str(errors[5])
        assert isinstance(errors[6], TaskFailed)
        assert "payload.name" in str(errors[6])
        assert [errors[at] for at in (0, 2, 3)] == [None] * 3
        assert not await run_until_empty(app)
        clock.advance(seconds=60)
        again = await run_until_empty(app, raise_errors=False)
        assert sorted((result.payload["how"], result.attempt) for result in again) == [
            ("retry", 2),
            ("snooze", 1),
        ]


async def test_tasks_that_tasks_enqueue_run_too_and_plain_functions_as_well(
    testing_database: Database,
) -> None:
    app = Penstock()
    steps: list[str] = []

    @app.task(queue="late")
    def last(payload: dict[str, str]) -> None:
        steps.append("last")

    @app.task()
    async def first(payload: dict[str, str], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await last.enqueue({}, conn=connection)
        steps.append("first")

    async with bound(app, testing_database):
        await first.enqueue({})
        results = await run_until_empty(app)
    assert steps == ["first", "last"]
    assert [result.outcome for result in results] == ["completed", "completed"]


async def test_a_task_that_enqueues_itself_for_ever_is_an_error(testing_database: Database) -> None:
    app = Penstock()

    @app.task()
    async def again(payload: dict[str, str]) -> None:
        await again.enqueue({})

    async with bound(app, testing_database):
        await again.enqueue({})
        with pytest.raises(InvalidArgument, match="5 tasks ran and there are still more, now 'again'"):
            await run_until_empty(app, limit=5)
        (left,) = enqueued(app)
        assert (left.state, left.attempt) == ("ready", 1)


async def test_pytest_fail_in_a_handler_fails_the_test(testing_database: Database) -> None:
    app = Penstock()

    @app.task()
    async def must_not_run(payload: dict[str, str]) -> None:
        pytest.fail("it ran")

    async with bound(app, testing_database):
        await must_not_run.enqueue({})
        with pytest.raises(pytest.fail.Exception, match="it ran"):
            await run_until_empty(app)


async def test_interrupted_it_hands_the_task_back(testing_database: Database) -> None:
    app = Penstock()
    begun = asyncio.Event()

    @app.task()
    async def endless(payload: dict[str, str]) -> None:
        begun.set()
        await asyncio.Event().wait()

    async with bound(app, testing_database):
        await endless.enqueue({})
        running = asyncio.create_task(run_until_empty(app))
        await begun.wait()
        running.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await running
        (left,) = enqueued(app)
        assert (left.state, left.attempt) == ("ready", 1)


async def test_tasks_of_a_crashed_worker_go_to_the_next_once_their_lease_is_over(
    testing_database: Database,
) -> None:
    app = Penstock()
    losses: list[int] = []

    @app.task()
    async def count(payload: dict[str, str], ctx: Context) -> None:
        losses.append(ctx.losses)

    clock = Clock(testing_database)
    async with bound(app, testing_database, lease_seconds=20):
        task_id = await count.enqueue({})
        assert await claim_and_crash(app) == [task_id]
        clock.advance(seconds=19)
        assert not await run_until_empty(app)
        clock.advance(seconds=2)
        await run_until_empty(app)
    assert losses == [1]


async def test_a_schedule_fires_when_the_clock_reaches_its_tick(testing_database: Database) -> None:
    app = Penstock()
    ran: list[str] = []

    @app.task()
    async def digest(payload: dict[str, str]) -> None:
        ran.append(payload["kind"])

    app.schedule("0 7 * * *", digest, {"kind": "daily"}, timezone="Europe/Berlin")
    clock = Clock(testing_database)
    async with bound(app, testing_database):
        clock.set(datetime(2031, 1, 6, 5, 59, 30, tzinfo=UTC))
        assert not await run_until_empty(app)
        clock.advance(seconds=30)
        assert len(await run_until_empty(app)) == 1
        clock.advance(hours=23, minutes=59)
        assert not await run_until_empty(app)
        clock.advance(days=3)
        assert len(await run_until_empty(app)) == 1  # missed ticks are not made up
    assert ran == ["daily", "daily"]


async def test_keys_and_delays_are_decided_by_the_clock(testing_database: Database) -> None:
    app = Penstock()
    ran: list[int] = []

    @app.task(on_duplicate="replace")
    async def save(payload: dict[str, int]) -> None:
        ran.append(payload["n"])

    clock = Clock(testing_database)
    async with bound(app, testing_database):
        for n in range(3):
            await save.enqueue({"n": n}, unique_key="page", delay=timedelta(seconds=5))
        assert not await run_until_empty(app)
        clock.advance(seconds=5)
        await run_until_empty(app)
    assert ran == [2]


def test_the_clock_needs_a_time_zone_and_does_not_go_back(testing_database: Database) -> None:
    clock = Clock(testing_database)
    before = clock.now
    with pytest.raises(InvalidArgument, match="time zone"):
        clock.set(datetime(2026, 1, 5))  # noqa: DTZ001  # the mistake
    with pytest.raises(InvalidArgument, match="go back"):
        clock.advance(seconds=-1)
    assert clock.advance(hours=1, seconds=1) == before + timedelta(hours=1, seconds=1)
    assert testing_database.fetch("select internal.clock() as now") == [{"now": clock.now}]


async def test_documents_are_indexed_and_found_without_a_model(
    testing_database: Database, tmp_path: Path
) -> None:
    app = Penstock(openai_api_key="not used")
    (tmp_path / "gate.md").write_text("# The gate\n\nThe sluice gate opens at dawn.\n")
    (tmp_path / "wheel.md").write_text("# The wheel\n\nThe mill wheel turns at noon.\n")
    async with bound(app, testing_database, parse_processes=1):
        await app.ingest(tmp_path, wait=False)
        assert not await run_until_empty(app)
        results = await run_until_empty(app, documents=True)
        assert [(result.task_type, result.outcome) for result in results] == [
            ("ingest-document", "completed")
        ] * 2
        hits = list(await app.search("when does the sluice gate open at dawn?"))
        assert hits[0].title == "The gate"
    models = testing_database.fetch("select distinct model from ingest.chunk_vector")
    assert models == [{"model": "hashing"}]


def test_a_test_without_a_loop_uses_the_blocking_app(testing_database: Database) -> None:
    app = Penstock()
    ran: list[str] = []

    @app.task()
    async def note(payload: dict[str, str]) -> None:
        ran.append(payload["text"])

    with pointed_at(app, testing_database), app as blocking:
        blocking.run(note.enqueue({"text": "hello"}))
        blocking.run(run_until_empty(app))
    assert ran == ["hello"]
