"""A worker runs what was enqueued, once, and nothing of a transaction that rolled back."""

from __future__ import annotations

import asyncio
import threading
from uuid import uuid4

import pytest
from pydantic import BaseModel

from penstock import Cancel, Context, Penstock, Snooze
from penstock.errors import PayloadInvalid
from penstock.worker import Worker, claimer
from tests.plugins.busy import stretched
from tests.plugins.workers import Mill, eventually, working


class Greeting(BaseModel):
    name: str
    times: int = 1


async def test_a_task_runs_and_completes(mill: Mill) -> None:
    app = mill.app()
    seen: list[Greeting] = []

    @app.task()
    async def greet(payload: Greeting) -> None:
        seen.append(payload)

    async with mill.open(app) as books, working(app):
        task = await greet.enqueue(Greeting(name="Ada", times=2))
        await books.becomes(task, "completed")
        assert seen == [Greeting(name="Ada", times=2)]
        await books.drained(1)


async def test_a_task_enqueued_in_a_transaction_that_rolls_back_never_runs(mill: Mill) -> None:
    app = mill.app()
    ran: list[int] = []

    @app.task()
    async def note(payload: dict[str, int]) -> None:
        ran.append(payload["n"])

    async with mill.open(app) as books, working(app):
        async with app.transaction() as connection:
            inner = connection.transaction()  # a savepoint: the same to the queue
            await inner.start()
            await note.enqueue({"n": 0}, conn=connection)
            await inner.rollback()
        async with mill.database.connect("runtime") as connection:
            outer = connection.transaction()
            await outer.start()
            await note.enqueue({"n": 1}, conn=connection)
            await connection.execute("insert into public.effect (n) values (1)")
            await outer.rollback()
        async with app.transaction() as connection:
            await note.enqueue({"n": 2}, conn=connection)
            await connection.execute("insert into public.effect (n) values (2)")
        await books.drained(1)
        assert ran == [2]
        assert await books.value("select array_agg(n) from public.effect") == [2]


async def test_nothing_runs_before_the_callers_transaction_commits(mill: Mill) -> None:
    app = mill.app()
    ran: list[int] = []

    @app.task()
    async def note(payload: dict[str, int]) -> None:
        ran.append(payload["n"])

    async with mill.open(app) as books, working(app):
        async with app.transaction() as connection:
            await note.enqueue({"n": 1}, conn=connection)
            later = await note.enqueue({"n": 2})
            await books.becomes(later, "completed")
            assert ran == [2]
        await books.drained(2)
        assert ran == [2, 1]


async def test_a_worker_that_starts_finds_tasks_that_were_enqueued_before(
    mill: Mill, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claimer, "FIRST_POLL", 300.0)  # what is found now was looked for at the start
    app = mill.app(poll_interval=300)

    @app.task()
    async def note(payload: dict[str, int]) -> None:
        pass

    async with mill.open(app) as books:
        await note.enqueue_many([{"n": n} for n in range(100)])
        async with working(app):
            await books.drained(100, within=20)


async def test_run_worker_until_empty_returns_how_many_it_closed(mill: Mill) -> None:
    app = mill.app(grace_seconds=1)

    @app.task()
    async def note(payload: dict[str, int]) -> None:
        pass

    async with mill.open(app) as books:
        await note.enqueue_many([{"n": n} for n in range(250)])
        assert await asyncio.wait_for(app.run_worker(stop_when_empty=True), 20) == 250
        await books.drained(250)


@pytest.mark.parametrize("way", ["in its transaction", "beside it"])
async def test_run_worker_until_empty_runs_what_the_handlers_enqueue_too(mill: Mill, way: str) -> None:
    app = mill.app(grace_seconds=1)

    @app.task()
    async def link(payload: dict[str, int], ctx: Context) -> None:
        following = {"n": payload["n"] + 1}
        if following["n"] == 40:
            return
        if way == "beside it":
            await link.enqueue(following)
        else:
            async with ctx.transaction() as connection:
                await link.enqueue(following, conn=connection)

    async with mill.open(app) as books:
        await link.enqueue({"n": 0})
        assert await asyncio.wait_for(app.run_worker(stop_when_empty=True), 30) == 40
        await books.drained(40)


async def test_a_plain_function_runs_in_a_thread_and_does_not_block_the_others(mill: Mill) -> None:
    app = mill.app()
    entered, leave = threading.Event(), threading.Event()
    threads: list[str] = []

    @app.task()
    def blocking(payload: dict[str, int]) -> None:
        threads.append(threading.current_thread().name)
        entered.set()
        assert leave.wait(20)

    @app.task()
    async def quick(payload: dict[str, int]) -> None:
        pass

    async with mill.open(app) as books, working(app):
        slow = await blocking.enqueue({"n": 1})
        await eventually(entered.is_set)
        await books.becomes(await quick.enqueue({"n": 2}), "completed")
        leave.set()
        await books.becomes(slow, "completed")
        assert threads != [threading.main_thread().name]


async def test_a_snoozed_task_runs_again_and_is_charged_no_attempt(mill: Mill) -> None:
    app = mill.app()
    attempts: list[int] = []

    @app.task(max_attempts=1)
    async def patient(payload: dict[str, int], ctx: Context) -> Snooze | None:
        attempts.append(ctx.attempt)
        return Snooze(0.05) if len(attempts) < 3 else None

    async with mill.open(app) as books, working(app):
        task = await patient.enqueue({})
        await books.becomes(task, "completed")
        assert attempts == [1, 1, 1]
        assert await books.outcomes(task) == ["snoozed", "snoozed", "completed"]


async def test_a_handler_may_end_its_task_without_an_error(mill: Mill) -> None:
    app = mill.app()

    @app.task()
    async def pointless(payload: dict[str, int]) -> Cancel:
        return Cancel("the customer left")

    async with mill.open(app) as books, working(app):
        task = await pointless.enqueue({})
        await books.becomes(task, "cancelled")
        assert await books.outcomes(task) == ["cancelled"]
        assert await books.value("select error_message from queues.error") == "the customer left"


async def test_a_payload_that_no_longer_fits_goes_dead_at_once_as_payload_invalid(mill: Mill) -> None:
    app = mill.app()

    @app.task("greet")
    async def greet(payload: Greeting) -> None:
        raise AssertionError("it must not run")

    async with mill.open(app) as books:
        with pytest.raises(PayloadInvalid) as refused:
            await greet.enqueue({"name": "Ada", "times": "canary often"})  # type: ignore[arg-type]  # wrong on purpose
        assert "canary" not in str(refused.value)
        # SQL knows the required keys only, so a producer in SQL gets this one in.
        task = await books.value(
            """select queues.enqueue('greet', '{"name": "Ada", "times": "canary often"}')"""
        )
        async with working(app):
            await books.becomes(task, "dead")
        letter = await books.admin.fetchrow("select * from queues.dead_letter where task_id = $1", task)
        assert letter is not None
        assert letter["error_code"] == "PayloadInvalid"
        assert letter["reason"] == "not_retriable"
        assert "times" in letter["error_message"]
        assert "canary" not in letter["error_message"]
        assert await books.outcomes(task) == ["failed"]


async def test_a_task_of_a_type_the_worker_does_not_know_is_kept_for_one_that_does(mill: Mill) -> None:
    app, other = mill.app(), mill.app()

    @other.task("foreign")
    async def foreign(payload: dict[str, int]) -> None:
        pass

    async with mill.open(other) as books, mill.open(app):
        task = await foreign.enqueue({})
        async with working(app, ["default"]):
            await books.becomes(task, "waiting")
        errors = await books.value("select array_agg(error_code) from queues.error where task_id = $1", task)
        assert errors == ["UnknownTaskType"]


async def test_two_workers_never_run_a_task_twice(mill: Mill) -> None:
    count = 5_000
    app = mill.app()
    ran: list[int] = []

    @app.task()
    async def effect(payload: dict[str, int]) -> None:
        ran.append(payload["n"])
        await asyncio.sleep(0)

    async with mill.open(app) as books:
        async with working(app, name="one") as one, working(app, name="two") as two:
            # Only now: the first worker would have run them all while the second one starts.
            await effect.enqueue_many([{"n": n} for n in range(count)])
            await books.drained(count)
        assert sorted(ran) == list(range(count))
        assert one.closed_total + two.closed_total == count
        assert min(one.closed_total, two.closed_total) > 0
        assert await books.count("queues.attempt") == count


async def test_each_queue_respects_its_own_concurrency(mill: Mill) -> None:
    app = mill.app()
    running = {"narrow": 0, "wide": 0}
    most = dict(running)

    def watched(queue: str) -> None:
        @app.task(f"{queue}_task", queue=queue)
        async def run(payload: dict[str, int]) -> None:
            running[queue] += 1
            most[queue] = max(most[queue], running[queue])
            await asyncio.sleep(0.01)
            running[queue] -= 1

    watched("narrow")
    watched("wide")
    async with mill.open(app) as books, working(app, {"narrow": 2, "wide": 8}):
        for queue in running:
            await app.registry.types[f"{queue}_task"].enqueue_many([{"n": n} for n in range(60)])
        await books.drained(120)
        assert most == {"narrow": 2, "wide": 8}


async def test_a_task_carries_its_tenant_to_its_handler(mill: Mill) -> None:
    app = mill.app()
    tenant = uuid4()
    seen: list[object] = []

    @app.task()
    async def whose(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            seen.append(ctx.tenant_id)
            seen.append(await connection.fetchval("select current_setting('penstock.tenant_id')"))

    async with mill.open(app) as books, working(app) as worker:
        await whose.enqueue({}, tenant_id=tenant)
        await books.drained(1)
        assert seen == [tenant, str(tenant)]
        # The setting ended with the transaction: nobody gets the connection with another's tenant.
        left = await (await worker.pool()).fetchval("select current_setting('penstock.tenant_id', true)")
        assert not left


async def test_handlers_that_never_wait_do_not_starve_the_event_loop(mill: Mill) -> None:
    """Thousands of handlers without an await must not starve what else runs in the process."""
    app = mill.app(prefetch_seconds=1)

    @app.task()
    async def spin(payload: dict[str, int]) -> None:
        for _ in range(2_000):
            pass

    async with mill.open(app) as books:
        await spin.enqueue_many([{"n": n} for n in range(3_000)])
        async with working(app, concurrency=10):
            assert await _longest_gap(books.completed, 3_000) < stretched(1.0)


async def _longest_gap(completed: object, count: int) -> float:
    loop = asyncio.get_running_loop()
    longest, last = 0.0, loop.time()
    deadline = last + 120
    while await completed() < count:  # type: ignore[operator]  # Books.completed
        now = loop.time()
        assert now < deadline
        longest, last = max(longest, now - last), now
    return longest


def test_a_worker_needs_an_open_app(mill: Mill) -> None:
    app: Penstock = mill.app()
    with pytest.raises(Exception, match="not open"):
        _: Worker = app.worker()
