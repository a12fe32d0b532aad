"""Drain and enqueue in other shapes: two workers, a thousand tenants, large payloads, a million waiting."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from bench.environment import Environment
from bench.job import Figures, Job
from bench.systems import Settings, System
from bench.workloads import Column, Medians, Verdict, ratio

LARGE = 500_000
TENANTS = 1_000


async def share(system: System, job: Job) -> Figures:
    """One of several workers that empty a queue together."""
    stop = asyncio.Event()
    done = 0

    def on_task(payload: object) -> None:
        nonlocal done
        done += 1
        if done == job.tasks:
            stop.set()  # for systems that do not end by themselves; alone it has done all of them

    async with system.worker(job.url, on_task) as worker:
        started = time.time()
        await worker.run(stop, until_empty=True)
        return {"done": done, "started": started, "ended": time.time()}


class Shapes:
    name = "shapes"
    title = "Enqueue and drain in other shapes"
    columns = (Column("rate", "drained/s"), Column("enqueued", "enqueued/s"), Column("wal", "WAL bytes/task"))
    most_rounds = 3

    def cases(self, systems: Sequence[str]) -> list[str]:
        ours = ["penstock", "penstock, 2 workers", "penstock, 1,000 tenants", "penstock, a million waiting"]
        large = [f"{system}, 500 KB" for system in ("penstock", "pgqueuer") if system in systems]
        return (ours if "penstock" in systems else []) + large

    async def measure(self, environment: Environment, case: str) -> Figures:
        plan = environment.plan
        system, _, shape = case.partition(", ")
        settings: Settings = {
            "1,000 tenants": {"tenants": TENANTS},
            "500 KB": {"payload_bytes": LARGE},
        }.get(shape, {})
        tasks = {"500 KB": plan.large_tasks, "a million waiting": plan.waiting_tasks}.get(
            shape, 4 * plan.drain_tasks
        )
        batch = {"500 KB": 10, "1,000 tenants": tasks}.get(shape, plan.batch)
        async with environment.database(system) as database:
            watch = database.connection
            before = await watch.fetchval("select pg_current_wal_insert_lsn()")
            filled = await environment.run(
                system, "enqueue.fill", Job(database.url, tasks=tasks, batch=batch, settings=settings)
            )
            if sql := environment.system(system).analyze_sql:
                await watch.execute(sql)
            job = Job(database.url, tasks=tasks, settings=settings)
            workers = 2 if shape == "2 workers" else 1
            parts = await asyncio.gather(
                *(environment.run(system, "shapes.share", job) for _ in range(workers))
            )
            left = await watch.fetchval(environment.system(system).unfinished_sql)
            done = sum(part["done"] for part in parts)
            if left or done != tasks:
                raise RuntimeError(f"{case}: {done:.0f} of {tasks} tasks ran, {left} are left")
            wal = await watch.fetchval("select pg_current_wal_insert_lsn() - $1::pg_lsn", before)
        seconds = max(part["ended"] for part in parts) - min(part["started"] for part in parts)
        return {"rate": tasks / seconds, "enqueued": filled["rate"], "wal": float(wal) / tasks}

    def judge(self, medians: Medians) -> list[Verdict]:
        verdicts = []
        for case, least in (("penstock", 70_000.0), ("penstock, 2 workers", 90_000.0)):
            if case in medians:
                verdicts.append(Verdict(f"Drained per second, {case}", medians[case]["rate"], least))
        for words, key, over, under, least in (
            ("Drain with 1,000 tenants / one", "rate", "penstock, 1,000 tenants", "penstock", 0.7),
            (
                "Drain with a million waiting / 200,000",
                "rate",
                "penstock, a million waiting",
                "penstock",
                0.9,
            ),
            ("Drain of 500 KB / pgqueuer's", "rate", "penstock, 500 KB", "pgqueuer, 500 KB", 1.0),
            ("Enqueue of 500 KB / pgqueuer's", "enqueued", "penstock, 500 KB", "pgqueuer, 500 KB", 1.0),
        ):
            measured = ratio(medians, key, over, under)
            if measured is not None:
                verdicts.append(Verdict(words, measured, least))
        return verdicts


WORKLOAD = Shapes()
