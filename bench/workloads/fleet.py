"""Pick-up by a fleet of idle workers, one process each: more of them must not make it slower."""

from __future__ import annotations

import asyncio
import contextlib
import time
from collections import Counter
from collections.abc import Sequence

from bench.child import announce_ready, stop_when_parent_hangs_up
from bench.environment import Database, Environment
from bench.job import Figures, Job
from bench.systems import System
from bench.workloads import Column, Medians, Verdict

SYSTEMS = ("penstock", "pgqueuer")
SETTLE_SECONDS = 2.0
"""Until the processes that have just started wait for work."""
MOST_CLAIMS = 1.5
MOST_TIMES_ONE = 2.0
BUCKET_MS = 0.1
CLAIMS = """
  select coalesce(sum(calls), 0)::float8 from pg_stat_statements
  where query ilike $1 and dbid = (select oid from pg_database where datname = current_database())
"""


async def serve(system: System, job: Job) -> Figures:
    """Works until the parent hangs up; tells how many tasks it picked up after how many tenths of a ms."""
    stop = asyncio.Event()
    stop_when_parent_hangs_up(stop)
    delays: Counter[int] = Counter()

    def on_task(payload: object) -> None:
        delays[int((time.time() - system.sent_at(payload)) * 1000 / BUCKET_MS)] += 1

    async with system.worker(job.url, on_task) as worker, asyncio.TaskGroup() as group:
        group.create_task(worker.run(stop, until_empty=False))
        await asyncio.sleep(0)
        announce_ready()
    return {str(bucket): float(count) for bucket, count in delays.items()}


def quantile(delays: Counter[int], share: float) -> float:
    """In milliseconds."""
    seen = 0
    for bucket in sorted(delays):
        seen += delays[bucket]
        if seen >= share * delays.total():
            return (bucket + 0.5) * BUCKET_MS
    return 0.0


def name_of(system: str, workers: int, rate: int) -> str:
    return f"{system}, {workers} at {rate}/s"


class Fleet:
    name = "fleet"
    title = "Pick-up by idle workers, one process each, open loop"
    columns = (
        Column("p50_ms", "p50 ms", 2),
        Column("p95_ms", "p95 ms", 2),
        Column("p99_ms", "p99 ms", 1),
        Column("claims_per_task", "claims/task", 2),
        Column("enqueue_p50_ms", "enqueue call p50 ms", 2),
        Column("workers_used", "workers used"),
    )
    most_rounds = 1

    def __init__(self) -> None:
        self.sizes: dict[str, tuple[str, int, int]] = {}

    def cases(self, systems: Sequence[str]) -> list[str]:
        for workers, rate in ((n, rate) for rate in (100, 300, 500) for n in (1, 4, 8, 16)):
            for system in SYSTEMS:
                if system in systems and (rate != 300 or workers <= 4):
                    self.sizes[name_of(system, workers, rate)] = (system, workers, rate)
        return list(self.sizes)

    async def measure(self, environment: Environment, case: str) -> Figures:
        system, workers, rate = self.sizes[case]
        async with environment.database(system) as database, contextlib.AsyncExitStack() as stack:
            watch = database.connection
            await watch.execute("create extension if not exists pg_stat_statements")
            name = await watch.fetchval("select current_database()")
            await watch.execute(f"alter database \"{name}\" set pg_stat_statements.track = 'top'")
            tasks = int(rate * environment.plan.fleet_seconds)
            job = Job(database.url, tasks=tasks, rate=rate)
            fleet = [
                await stack.enter_async_context(environment.child(system, "fleet.serve", job))
                for _ in range(workers)
            ]
            for child in fleet:
                await child.figures()
            await asyncio.sleep(SETTLE_SECONDS)
            pattern = environment.system(system).claim_pattern
            before = await watch.fetchval(CLAIMS, pattern)
            sent = await environment.run(system, "latency.produce", job)
            await self.drained(environment.system(system), database)
            claims = await watch.fetchval(CLAIMS, pattern) - before
            delays, used = Counter[int](), 0
            for child in fleet:
                child.hang_up()
            for child in fleet:
                figures = await child.figures()
                used += bool(figures)
                delays.update({int(bucket): int(count) for bucket, count in figures.items()})
            if delays.total() != tasks:
                raise RuntimeError(f"{case}: {delays.total()} of {tasks} tasks ran")
        return {
            "p50_ms": quantile(delays, 0.5),
            "p95_ms": quantile(delays, 0.95),
            "p99_ms": quantile(delays, 0.99),
            "claims_per_task": claims / tasks,
            "workers_used": used,
            **sent,
        }

    async def drained(self, system: System, database: Database) -> None:
        async with asyncio.timeout(60):
            while await database.connection.fetchval(system.unfinished_sql):  # noqa: ASYNC110  # a table
                await asyncio.sleep(0.05)

    def judge(self, medians: Medians) -> list[Verdict]:
        verdicts = []
        for rate in (100, 500):
            one = medians.get(name_of("penstock", 1, rate))
            for workers in (1, 4, 8, 16):
                figures = medians.get(name_of("penstock", workers, rate))
                if figures is None or one is None:
                    continue
                what = f"{workers} idle workers at {rate}/s"
                verdicts.append(
                    Verdict(f"Claims per task, {what}", figures["claims_per_task"], MOST_CLAIMS, False)
                )
                if workers > 1:
                    times = figures["p50_ms"] / one["p50_ms"]
                    verdicts.append(Verdict(f"p50 / one worker's, {what}", times, MOST_TIMES_ONE, False))
        for workers in (1, 4):
            ours, theirs = (medians.get(name_of(system, workers, 300)) for system in SYSTEMS)
            if ours and theirs:
                words = f"p95 / pgqueuer's, {workers} idle workers at 300/s"
                verdicts.append(Verdict(words, ours["p95_ms"] / theirs["p95_ms"], 1.0, False))
        return verdicts


WORKLOAD = Fleet()
