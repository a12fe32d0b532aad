"""A handler's writes and the close of its lease are one transaction, guarded by the lease."""

from __future__ import annotations

import asyncio
from datetime import timedelta
from uuid import uuid4

import pytest

from penstock import Context, LeaseLost, Table
from penstock.db import Connection, Pool
from penstock.db.connect import create_pool
from penstock.errors import InvalidMove
from penstock.model import Lease
from penstock.worker import Worker, WorkerOptions
from penstock.worker.registration import Registration
from tests.plugins.proxy import proxied
from tests.plugins.workers import Books, Mill, eventually, working

AT_ONCE = Table((0, 0, 0))
INSERT = "insert into public.effect (task_id, lease_id, worker_id, n) values ($1, $2, $3, $4)"


async def write(connection: Connection, ctx: Context, n: int = 0) -> None:
    await connection.execute(INSERT, ctx.task_id, ctx.lease_id, ctx.worker_id, n)


async def give_up(books: Books, worker_id: int) -> None:
    """Let a worker look silent for longer than its lease, and take its leases back."""
    await books.admin.execute(
        "update queues.worker set beat_at = now() - interval '1 hour' where worker_id = $1", worker_id
    )
    await books.admin.execute("select queues.rescue()")
    assert await books.count("queues.worker", f"worker_id = {worker_id} and lost_at is not null") == 1


async def test_writes_and_close_commit_together(mill: Mill) -> None:
    app = mill.app()
    seen: list[tuple[int, int]] = []
    written, go = asyncio.Event(), asyncio.Event()

    @app.task()
    async def transfer(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await write(connection, ctx, payload["n"])
            written.set()
            await go.wait()

    async with mill.open(app) as books, working(app) as worker:
        task = await transfer.enqueue({"n": 7})
        await eventually(written.is_set)
        seen.append((await books.count("public.effect"), await books.count("queues.lease")))
        go.set()
        await books.becomes(task, "completed")
        seen.append((await books.count("public.effect"), await books.count("queues.lease")))
        assert seen == [(0, 1), (1, 0)]
        assert worker.closed_total == 1
        assert worker.metrics.snapshot().completed == {("transfer", "success"): 1}
        assert worker.metrics.snapshot().lost == 0


async def test_an_error_rolls_back_the_writes_and_the_close(mill: Mill) -> None:
    app = mill.app()

    @app.task(retry=AT_ONCE)
    async def transfer(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await write(connection, ctx, ctx.attempt)
            if ctx.attempt < 3:
                raise OSError("the other side")

    async with mill.open(app) as books, working(app):
        task = await transfer.enqueue({})
        await books.becomes(task, "completed")
        assert await books.value("select array_agg(n) from public.effect") == [3]
        assert await books.outcomes(task) == ["failed", "failed", "completed"]


async def test_an_error_of_the_database_inside_is_a_failed_attempt(mill: Mill) -> None:
    app = mill.app()

    @app.task(retry=Table((0,)))
    async def wrong(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await write(connection, ctx)
            await connection.execute("select 1 / 0")

    async with mill.open(app) as books, working(app):
        task = await wrong.enqueue({})
        await books.becomes(task, "dead")
        assert await books.count("public.effect") == 0
        code = await books.value("select error_code from queues.dead_letter where task_id = $1", task)
        assert code == "DivisionByZeroError"


async def test_stale_worker_cannot_complete_a_reclaimed_task(mill: Mill) -> None:
    """The stale worker here is one that learns nothing of its fate before it commits."""
    app = mill.app()

    @app.task()
    async def job(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await write(connection, ctx, 2)

    async with mill.open(app) as books, mill.database.connect("runtime") as stale:
        task = await job.enqueue({})
        lease_for = timedelta(seconds=60)
        worker_id = await stale.fetchval("select queues.register_worker('stale', '{default}', $1)", lease_for)
        row = await stale.fetchrow("select * from queues.claim($1, 'default')", worker_id)
        assert row is not None
        pool = await create_pool(mill.database.runtime_url, min_size=0, max_size=1)

        async def lend() -> Pool:
            return pool

        async def run_too_long(ctx: Context) -> None:
            async with ctx.transaction() as connection:
                await write(connection, ctx, 1)
                await give_up(books, worker_id)
                async with working(app, name="another"):
                    await books.becomes(task, "completed")

        try:
            with pytest.raises(LeaseLost):
                await run_too_long(Context(Lease._make(row), Registration(worker_id, 60), lend))
        finally:
            await pool.close()
        assert await books.value("select array_agg(n) from public.effect") == [2]
        assert await books.outcomes(task) == ["lost", "completed"]
        await books.assert_sound()


async def test_a_worker_declared_lost_stops_its_handlers_and_registers_again(mill: Mill) -> None:
    app = mill.app()
    raised: list[BaseException] = []
    inside = asyncio.Event()

    @app.task()
    async def slow(payload: dict[str, int], ctx: Context) -> None:
        if ctx.losses == 0:
            try:
                async with ctx.transaction() as connection:
                    await write(connection, ctx, 1)
                    inside.set()
                    await asyncio.Event().wait()
            except BaseException as error:
                raised.append(error)
                raise
        async with ctx.transaction() as connection:
            await write(connection, ctx, 2)

    async with mill.open(app) as books, working(app) as worker:
        task = await slow.enqueue({})
        await eventually(inside.is_set)
        assert worker.registration is not None
        old = worker.registration.worker_id
        await give_up(books, old)
        await books.becomes(task, "completed")
        assert worker.registration.worker_id != old
        assert [type(error) for error in raised] == [asyncio.CancelledError]
        assert await books.value("select array_agg(n) from public.effect") == [2]
        assert await books.outcomes(task) == ["lost", "completed"]
        await books.assert_sound()


async def test_a_stale_worker_without_a_transaction_closes_nothing_either(mill: Mill) -> None:
    app = mill.app(beat_seconds=2)
    runs: list[int] = []
    go = asyncio.Event()

    @app.task()
    async def slow(payload: dict[str, int], ctx: Context) -> None:
        runs.append(ctx.lease_id)
        if len(runs) == 1:
            await go.wait()

    async with mill.open(app) as books, working(app, name="stale") as stale:
        task = await slow.enqueue({})
        await eventually(lambda: len(runs) == 1)
        assert stale.registration is not None
        await give_up(books, stale.registration.worker_id)
        go.set()
        await books.becomes(task, "completed")
        assert await books.outcomes(task) == ["lost", "completed"]
        leases = await books.value(
            "select array_agg(attempt_id order by attempt_id) from queues.attempt where outcome = 'completed'"
        )
        assert leases == [runs[1]]


async def test_a_handler_may_complete_its_task_in_a_transaction_of_its_own(mill: Mill) -> None:
    """The connection is the handler's: another pool, another library; here, one of the test's."""
    app = mill.app()

    @app.task(retry=AT_ONCE)
    async def foreign(payload: dict[str, int], ctx: Context) -> None:
        async with mill.database.connect("runtime") as own, own.transaction():
            await write(own, ctx, ctx.attempt)
            await ctx.complete_in(own)
            if ctx.attempt == 1:
                raise OSError("after the close, before the commit")

    async with mill.open(app) as books, working(app) as worker:
        task = await foreign.enqueue({})
        await books.becomes(task, "completed")
        assert await books.value("select array_agg(n) from public.effect") == [2]
        assert await books.outcomes(task) == ["failed", "completed"]
        await eventually(lambda: worker.closed_total == 2)
        assert worker.metrics.snapshot().lost == 0


async def test_a_task_is_completed_once_in_a_run(mill: Mill) -> None:
    app = mill.app()

    @app.task(retry=Table((0,)))
    async def twice(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await ctx.complete_in(connection)

    async with mill.open(app) as books, working(app):
        task = await twice.enqueue({})
        await books.becomes(task, "dead")
        code = await books.value("select error_code from queues.dead_letter where task_id = $1", task)
        assert code == InvalidMove.__name__


async def test_an_error_after_the_commit_does_not_run_the_task_again(mill: Mill) -> None:
    app = mill.app()

    @app.task(retry=AT_ONCE)
    async def late(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await write(connection, ctx)
        raise OSError("too late to matter")

    async with mill.open(app) as books, working(app):
        task = await late.enqueue({})
        await books.drained(1)
        assert await books.outcomes(task) == ["completed"]
        assert await books.count("public.effect") == 1


async def test_a_connection_lost_inside_the_transaction_leaves_one_effect(mill: Mill) -> None:
    app = mill.app()
    attempts: list[int] = []

    @app.task(retry=AT_ONCE)
    async def cut(payload: dict[str, int], ctx: Context) -> None:
        attempts.append(ctx.attempt)
        async with ctx.transaction() as connection:
            await write(connection, ctx)
            if ctx.attempt == 1:
                pid = await connection.fetchval("select pg_backend_pid()")
                async with mill.database.connect("admin") as admin:
                    await admin.execute("select pg_terminate_backend($1)", pid)

    async with mill.open(app) as books, working(app):
        task = await cut.enqueue({})
        await books.becomes(task, "completed")
        assert attempts == [1, 2]
        assert await books.count("public.effect") == 1


async def test_a_commit_whose_answer_is_lost_is_not_a_failure(mill: Mill) -> None:
    """The server commits and the line breaks: the lease is gone, which tells that it was committed."""
    app = mill.app()
    runs: list[int] = []

    async with proxied(mill.database.runtime_url) as proxy:

        @app.task(retry=AT_ONCE)
        async def cut(payload: dict[str, int], ctx: Context) -> None:
            runs.append(ctx.attempt)
            async with ctx.transaction() as connection:
                await write(connection, ctx)
                proxy.cut_after("COMMIT")

        async with mill.open(app) as books:
            worker = Worker(
                app.registry,
                app.settings,
                proxy.url(mill.database.runtime_url),
                mill.database.runtime_url,
                WorkerOptions({"default": 1}),
            )
            await worker.start()
            try:
                task = await cut.enqueue({})
                await books.becomes(task, "completed")
                await eventually(lambda: worker.closed_total == 1)
                assert runs == [1]
                assert await books.count("queues.error") == 0
                assert await books.count("public.effect") == 1
            finally:
                await worker.stop()


async def test_each_tenants_transaction_sees_its_own_tenant(mill: Mill) -> None:
    app = mill.app(pool_size=2)
    tenants = [uuid4() for _ in range(20)]
    wrong: list[str] = []

    @app.task()
    async def whose(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            found = await connection.fetchval("select current_setting('penstock.tenant_id', true)")
            expected = "" if ctx.tenant_id is None else str(ctx.tenant_id)
            if (found or "") != expected:
                wrong.append(f"{found} for {expected}")

    async with mill.open(app) as books, working(app):
        for tenant in [None, *tenants, None]:
            await whose.enqueue_many([{"n": n} for n in range(5)], tenant_id=tenant)
        await books.drained(110)
        assert wrong == []


async def test_locks_of_a_handler_are_released_when_its_transaction_outlasts_the_lease(mill: Mill) -> None:
    app = mill.app(lease_seconds=1, beat_seconds=0.2)
    inside = asyncio.Event()

    @app.task(retry=Table((0,)))
    async def sleeper(payload: dict[str, int], ctx: Context) -> None:
        async with ctx.transaction() as connection:
            await connection.execute("select pg_advisory_xact_lock(1)")
            inside.set()
            await asyncio.Event().wait()

    async with mill.open(app) as books, working(app, grace=0):
        await sleeper.enqueue({})
        await eventually(inside.is_set)
        await asyncio.wait_for(books.admin.execute("select pg_advisory_lock(1)"), 10)
