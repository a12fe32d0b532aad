"""Pick-up time under an open loop: the producer stamps each task, the worker reads the same clock."""

from __future__ import annotations

import asyncio
import statistics
import time
from collections.abc import Sequence

from bench.child import announce_ready, stop_when_parent_hangs_up
from bench.environment import Environment
from bench.job import Figures, Job
from bench.systems import System
from bench.workloads import Column, Medians, Verdict, ratios

PRODUCER_CONNECTIONS = 4
WARM_UP = 0.0


def percentiles(seconds: list[float]) -> tuple[float, float]:
    cuts = statistics.quantiles(seconds, n=100, method="inclusive")
    return cuts[49] * 1000, cuts[98] * 1000


async def consume(system: System, job: Job) -> Figures:
    """Ready once a first task came through; serves until all have come or the parent hangs up."""
    stop, warm = asyncio.Event(), asyncio.Event()
    stop_when_parent_hangs_up(stop)
    delays: list[float] = []

    def on_task(payload: object) -> None:
        now = time.time()
        sent_at = system.sent_at(payload)
        if sent_at == WARM_UP:
            warm.set()
            return
        delays.append(now - sent_at)
        if len(delays) == job.tasks:
            stop.set()

    async with (
        system.producer(job.url, connections=1) as producer,
        system.worker(job.url, on_task) as worker,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(worker.run(stop, until_empty=False))
        await producer.enqueue(WARM_UP)
        await warm.wait()
        announce_ready()
    if len(delays) < 2:
        return {"picked_up": len(delays)}
    p50, p99 = percentiles(delays)
    return {"p50_ms": p50, "p99_ms": p99, "max_ms": max(delays) * 1000, "picked_up": len(delays)}


async def produce(system: System, job: Job) -> Figures:
    """Sends on schedule whether or not the enqueue before has returned."""
    calls: list[float] = []

    async def send() -> None:
        sent_at = time.time()
        await producer.enqueue(sent_at)
        calls.append(time.time() - sent_at)

    async with system.producer(job.url, PRODUCER_CONNECTIONS) as producer, asyncio.TaskGroup() as group:
        started = time.perf_counter()
        for number in range(job.tasks):
            due = started + number / job.rate
            await asyncio.sleep(max(0.0, due - time.perf_counter()))
            group.create_task(send())
    p50, p99 = percentiles(calls)
    return {"enqueue_p50_ms": p50, "enqueue_p99_ms": p99}


class Latency:
    name = "latency"
    most_rounds = 99
    title = "Pick-up at 100 tasks/s, open loop"
    columns = (
        Column("p50_ms", "p50 ms", 2),
        Column("p99_ms", "p99 ms", 2),
        Column("max_ms", "max ms", 1),
        Column("enqueue_p50_ms", "enqueue call p50 ms", 2),
    )

    def cases(self, systems: Sequence[str]) -> list[str]:
        return list(systems)

    async def measure(self, environment: Environment, case: str) -> Figures:
        plan = environment.plan
        tasks = int(plan.latency_rate * plan.latency_seconds)
        async with environment.database(case) as database:
            job = Job(database.url, tasks=tasks, rate=plan.latency_rate)
            async with environment.child(case, "latency.consume", job) as consumer:
                await consumer.figures()
                sent = await environment.run(case, "latency.produce", job)
                return {**await consumer.figures(), **sent}

    def judge(self, medians: Medians) -> list[Verdict]:
        return [
            *ratios(medians, "p50_ms", {"pgqueuer": 1.0}, False, "Penstock's pick-up p50"),
            *ratios(medians, "p99_ms", {"pgqueuer": 1.0}, False, "Penstock's pick-up p99"),
        ]


WORKLOAD = Latency()
