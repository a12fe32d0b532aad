"""Drain a preloaded queue of no-op tasks with one worker process."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from bench.environment import Database, Environment
from bench.job import Figures, Job
from bench.systems import System
from bench.workloads import Column, Medians, Verdict, ratios


async def work(system: System, job: Job) -> Figures:
    """From connected to the worker's return, so the last completion is committed and counted."""
    stop = asyncio.Event()
    done = 0

    def on_task(payload: object) -> None:
        nonlocal done
        done += 1
        if done == job.tasks:
            stop.set()

    async with system.worker(job.url, on_task) as worker:
        started = time.perf_counter()
        await worker.run(stop, until_empty=True)
        seconds = time.perf_counter() - started
    if done != job.tasks:
        raise RuntimeError(f"{done} of {job.tasks} tasks ran")
    return {"rate": job.tasks / seconds, "seconds": seconds}


async def preload_and_drain(environment: Environment, case: str, database: Database, tasks: int) -> Figures:
    system = environment.system(case)
    await environment.run(case, "enqueue.fill", Job(database.url, tasks=tasks, batch=environment.plan.batch))
    if system.analyze_sql:
        await database.connection.execute(system.analyze_sql)
    figures = await environment.run(case, "drain.work", Job(database.url, tasks=tasks))
    left = await database.connection.fetchval(system.unfinished_sql)
    if left:
        raise RuntimeError(f"{case} ran {tasks} tasks, yet {left} are not completed in the database")
    return figures


class Drain:
    name = "drain"
    most_rounds = 99
    title = "Drain no-op tasks, one worker process"
    columns = (Column("rate", "tasks/s"), Column("seconds", "seconds", 2))

    def cases(self, systems: Sequence[str]) -> list[str]:
        return list(systems)

    async def measure(self, environment: Environment, case: str) -> Figures:
        async with environment.database(case) as database:
            return await preload_and_drain(environment, case, database, environment.plan.drain_tasks)

    def judge(self, medians: Medians) -> list[Verdict]:
        wanted = {"pgqueuer": 4.0, "procrastinate": 20.0}
        return ratios(medians, "rate", wanted, True, "Penstock's drain rate")


WORKLOAD = Drain()
