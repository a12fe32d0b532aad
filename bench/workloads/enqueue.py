"""Enqueue in batches: each system's batch call, one connection."""

from __future__ import annotations

import time
from collections.abc import Sequence

from bench.environment import Environment
from bench.job import Figures, Job
from bench.systems import System
from bench.workloads import Column, Medians, Verdict, ratios


async def fill(system: System, job: Job) -> Figures:
    async with system.producer(job.url, connections=1) as producer:
        started = time.perf_counter()
        for left in range(job.tasks, 0, -job.batch):
            await producer.enqueue_many(min(job.batch, left))
        seconds = time.perf_counter() - started
    return {"rate": job.tasks / seconds, "seconds": seconds}


class Enqueue:
    name = "enqueue"
    most_rounds = 99
    title = "Enqueue in batches of 1,000"
    columns = (Column("rate", "tasks/s"), Column("seconds", "seconds", 2))

    def cases(self, systems: Sequence[str]) -> list[str]:
        return list(systems)

    async def measure(self, environment: Environment, case: str) -> Figures:
        async with environment.database(case) as database:
            job = Job(database.url, tasks=environment.plan.enqueue_tasks, batch=environment.plan.batch)
            return await environment.run(case, "enqueue.fill", job)

    def judge(self, medians: Medians) -> list[Verdict]:
        return ratios(medians, "rate", {"pgqueuer": 2.0}, True, "Penstock's batch enqueue rate")


WORKLOAD = Enqueue()
