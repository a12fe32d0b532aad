"""What one tenant or one queue asks for does not starve another; a rate is kept by a real worker."""

from __future__ import annotations

import asyncio
from uuid import uuid4

from tests.plugins.workers import Mill, eventually, working


async def test_ten_tasks_of_a_tenant_start_at_once_behind_a_hundred_thousand_of_another(mill: Mill) -> None:
    app = mill.app(poll_interval=30, prefetch_seconds=0.2)
    loop = asyncio.get_running_loop()
    started: dict[int, float] = {}
    flood = 0

    @app.task()
    async def work(payload: dict[str, int]) -> None:
        nonlocal flood
        if payload["n"] < 10:
            started[payload["n"]] = loop.time()
        else:
            flood += 1
        await asyncio.sleep(0.002)

    async with mill.open(app) as books:
        await books.admin.execute(
            "select queues.enqueue_many('work', array(select jsonb_build_object('n', 100 + i)"
            " from generate_series(1, 100000) i), _tenant_id => $1)",
            uuid4(),
        )
        async with working(app, concurrency=10, grace=2):
            await eventually(lambda: flood > 200)
            asked = loop.time()
            await work.enqueue_many([{"n": n} for n in range(10)], tenant_id=uuid4())
            await eventually(lambda: len(started) == 10, within=10, every=0.005)
            slowest = max(started.values()) - asked
            assert slowest < 2.0, slowest
            assert await books.count("queues.ready") > 50_000


async def test_an_urgent_task_runs_before_waiting_ones(mill: Mill) -> None:
    app = mill.app(prefetch_seconds=0)
    order: list[int] = []

    @app.task()
    async def work(payload: dict[str, int]) -> None:
        order.append(payload["n"])
        await asyncio.sleep(0.002)

    async with mill.open(app) as books:
        await work.enqueue_many([{"n": n} for n in range(2_000)])
        async with working(app, concurrency=1, grace=1):
            await eventually(lambda: len(order) > 50)
            before = len(order)
            await work.enqueue({"n": -1}, priority=0)
            await eventually(lambda: -1 in order, every=0.002)
            assert order.index(-1) - before < 100
            assert await books.count("queues.ready") > 1_000


async def test_a_queues_rate_is_never_exceeded_in_any_second(mill: Mill) -> None:
    rate, burst = 50, 50
    app = mill.app(poll_interval=30)
    starts: list[int] = []

    @app.task(queue="limited")
    async def call(payload: dict[str, int]) -> None:
        starts.append(payload["n"])

    async with mill.open(app) as books, mill.operator() as operator:
        await books.admin.execute("select queues.put_queue('limited', 1048576)")
        await operator.execute(
            "select queues.put_limits('limited', 'queue', _rate_count => $1, _rate_period => '1 second',"
            " _rate_burst => $2)",
            rate,
            burst,
        )
        await call.enqueue_many([{"n": n} for n in range(400)])
        async with working(app, {"limited": 20}), working(app, {"limited": 20}):
            await eventually(lambda: len(starts) >= 200, within=20)
        # By the database's clock: the loop of a busy machine may start late what it claimed in time.
        claimed = await books.value(
            "select array_agg(extract(epoch from claimed_at)::float8) from queues.attempt"
        )
        claimed.sort()
        busiest = max(sum(1 for other in claimed if at <= other < at + 1) for at in claimed)
        assert busiest <= rate + burst, busiest
        assert claimed[199] - claimed[0] >= (200 - burst) / rate * 0.95
        assert claimed[199] - claimed[0] < (200 - burst) / rate + 3


async def test_a_queues_concurrency_limit_holds_over_two_workers(mill: Mill) -> None:
    app = mill.app(poll_interval=30)
    running = most = 0

    @app.task()
    async def work(payload: dict[str, int]) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.005)
        running -= 1

    async with mill.open(app) as books, mill.operator() as operator:
        await operator.execute("select queues.put_limits('default', 'queue', _max_running => 3)")
        await work.enqueue_many([{"n": n} for n in range(60)])
        async with working(app, concurrency=10), working(app, concurrency=10):
            await books.drained(60)
        assert most <= 3


async def test_a_keys_tasks_run_one_at_a_time_and_all_of_them(mill: Mill) -> None:
    app = mill.app(poll_interval=30)
    running: dict[int, int] = {}
    most = 0

    @app.task()
    async def work(payload: dict[str, int]) -> None:
        nonlocal most
        key = payload["key"]
        running[key] = running.get(key, 0) + 1
        most = max(most, running[key])
        await asyncio.sleep(0.002)
        running[key] -= 1

    async with mill.open(app) as books, mill.operator() as operator:
        await operator.execute("select queues.put_limits('default', 'each_key', _max_running => 1)")
        for key in range(4):
            await work.enqueue_many([{"key": key}] * 25, limit_keys=[f"client {key}"] * 25)
        async with working(app), working(app):
            await books.drained(100)
        assert most == 1
