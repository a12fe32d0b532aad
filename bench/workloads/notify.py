"""What NOTIFY costs the writers: single-row enqueues with it off and on, beside the same worker."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

from bench.environment import Environment
from bench.job import Figures, Job
from bench.systems import Settings, System
from bench.workloads import Column, Medians, Verdict, ratio

# Both serve the writers' own queue. The idle one has nothing to do when the writers begin and waits for a
# NOTIFY; the busy one has a backlog to drain. Both are compared with the same worker that only polls.
BACKLOGS = {"idle": 0, "busy": 100_000}
LEAST_SHARE = 0.85


async def write(system: System, job: Job) -> Figures:
    written = 0

    async def writer() -> None:
        nonlocal written
        while time.perf_counter() < deadline:
            await producer.enqueue(1.0)
            written += 1

    async with system.producer(job.url, connections=job.writers) as producer:
        started = time.perf_counter()
        deadline = started + job.seconds
        async with asyncio.TaskGroup() as group:
            for _ in range(job.writers):
                group.create_task(writer())
        seconds = time.perf_counter() - started
    return {"rate": written / seconds, "written": written}


class Notify:
    name = "notify"
    most_rounds = 99
    title = "16 writers, one row a transaction, with NOTIFY off and on"
    columns = (Column("rate", "tasks/s"),)

    def cases(self, systems: Sequence[str]) -> list[str]:
        if "penstock" not in systems:
            return []
        return [f"{switch}, worker {worker}" for worker in BACKLOGS for switch in ("off", "on")]

    async def measure(self, environment: Environment, case: str) -> Figures:
        switch, _, kind = case.partition(", worker ")
        notify = switch == "on"
        async with environment.database("penstock") as database:
            settings: Settings = {"notify": notify}
            if BACKLOGS[kind]:
                await environment.run(
                    "penstock",
                    "enqueue.fill",
                    Job(database.url, tasks=BACKLOGS[kind], batch=environment.plan.batch),
                )
            serving = Job(database.url, settings=settings)
            writing = Job(
                database.url,
                writers=environment.plan.notify_writers,
                seconds=environment.plan.notify_seconds,
                settings=settings,
            )
            async with environment.child("penstock", "latency.consume", serving) as worker:
                await worker.figures()
                figures = await environment.run("penstock", "notify.write", writing)
                worker.hang_up()
                return {**figures, **await worker.figures()}

    def judge(self, medians: Medians) -> list[Verdict]:
        verdicts = []
        for worker in BACKLOGS:
            share = ratio(medians, "rate", f"on, worker {worker}", f"off, worker {worker}")
            if share is not None:
                words = f"Writers' rate with NOTIFY on / off, worker {worker}"
                verdicts.append(Verdict(words, share, LEAST_SHARE))
        return verdicts


WORKLOAD = Notify()
