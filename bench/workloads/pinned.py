"""Buffers a claim touches while a reader pins the xmin horizon: the last window against the first."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Sequence

import asyncpg

from bench.environment import Environment
from bench.job import Figures, Job
from bench.systems import System
from bench.workloads import Column, Medians, Verdict

BATCHES_A_WINDOW = 2
MOST_GROWTH = 1.1
CLAIM_BUFFERS = """
  select coalesce(sum(shared_blks_hit + shared_blks_read), 0)::float8, coalesce(sum(calls), 0)::float8
  from pg_stat_statements
  where query ilike $1
    and dbid = (select oid from pg_database where datname = current_database())
"""


async def rounds(system: System, job: Job) -> Figures:
    """One long-lived worker; each batch becomes visible at once and is drained before the next."""
    stop, drained = asyncio.Event(), asyncio.Event()
    done = goal = 0

    def on_task(payload: object) -> None:
        nonlocal done
        done += 1
        if done == goal:
            drained.set()

    figures: Figures = {}
    windows = job.tasks // job.window
    watch = await asyncpg.connect(job.url)
    async with (
        system.producer(job.url, connections=1) as producer,
        system.worker(job.url, on_task) as worker,
        asyncio.TaskGroup() as group,
    ):
        group.create_task(worker.run(stop, until_empty=False))
        for window in range(1, windows + 1):
            ((buffers, calls),) = await watch.fetch(CLAIM_BUFFERS, system.claim_pattern)
            started = time.perf_counter()
            for _ in range(BATCHES_A_WINDOW):
                drained.clear()
                goal += job.window // BATCHES_A_WINDOW
                await producer.enqueue_many(job.window // BATCHES_A_WINDOW)
                await drained.wait()
            seconds = time.perf_counter() - started
            ((after, calls_after),) = await watch.fetch(CLAIM_BUFFERS, system.claim_pattern)
            if calls_after == calls:
                raise RuntimeError(
                    f"no statement like {system.claim_pattern} was seen: correct claim_pattern"
                )
            figures[f"buffers_{window:02}"] = (after - buffers) / job.window
            figures[f"rate_{window:02}"] = job.window / seconds
        stop.set()
    await watch.close()
    figures["buffers_first"], figures["buffers_last"] = (
        figures["buffers_01"],
        figures[f"buffers_{windows:02}"],
    )
    figures["rate_first"], figures["rate_last"] = figures["rate_01"], figures[f"rate_{windows:02}"]
    figures["growth"] = figures["buffers_last"] / figures["buffers_first"]
    return figures


class Pinned:
    name = "pinned"
    most_rounds = 99
    title = "Buffers per claimed task with the xmin horizon pinned, first window and last"
    columns = (
        Column("buffers_first", "buffers/task first", 2),
        Column("buffers_last", "buffers/task last", 2),
        Column("growth", "last/first", 3),
        Column("rate_first", "tasks/s first"),
        Column("rate_last", "tasks/s last"),
    )

    def cases(self, systems: Sequence[str]) -> list[str]:
        return [system for system in systems if system == "penstock"]

    async def measure(self, environment: Environment, case: str) -> Figures:
        async with environment.database(case) as database:
            reader = database.connection
            await reader.execute("create extension if not exists pg_stat_statements")
            name = await reader.fetchval("select current_database()")
            await reader.execute(f"alter database \"{name}\" set pg_stat_statements.track = 'top'")
            async with reader.transaction(isolation="repeatable_read"):
                await reader.fetchval("select count(*) from pg_class")
                job = Job(
                    database.url, tasks=environment.plan.pinned_tasks, window=environment.plan.pinned_window
                )
                return await environment.run(case, "pinned.rounds", job)

    def judge(self, medians: Medians) -> list[Verdict]:
        words = "Buffers per claimed task, last window / first"
        return [Verdict(words, figures["growth"], MOST_GROWTH, False) for figures in medians.values()]


WORKLOAD = Pinned()
