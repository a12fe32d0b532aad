"""`penstock demo --queue`: a burst of tasks, two workers, one of them killed halfway, and the count."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from penstock.cli import output
from penstock.cli.demo import app as demo_app
from penstock.cli.demo.counts import Counts, count
from penstock.cli.demo.environment import own_database, own_folder
from penstock.cli.demo.progress import DemoProgress, DemoRate, demo_progress
from penstock.cli.demo.summary import DemoResult
from penstock.cli.demo.workers import Worker, kill_worker, start_worker, stop_workers, until_registered
from penstock.db import Connection
from penstock.db.addresses import Addresses
from penstock.db.reach import reach
from penstock.engine.penstock import Penstock

POLL_SECONDS = 0.1
KILL_AT = 0.4
GIVE_UP_SECONDS = 120.0
MIXTURE = {"demo.urgent": 0.1, "demo.flaky": 0.02, "demo.broken": 0.004}


async def run_demo(tasks: int, seconds: float, *, quiet: bool) -> DemoResult:
    """Run the whole demo; nothing of it is running when this returns."""
    with own_folder() as folder, demo_progress(quiet=quiet) as progress:
        progress.say(f"Postgres in {folder} …")
        async with own_database(folder) as (addresses, settings):
            async with demo_app.app(settings) as app:
                async with reach(addresses.admin, application_name="penstock demo") as line:
                    run = _Run(app, addresses, line, folder, progress)
                    try:
                        return await _run_demo(run, tasks, seconds)
                    finally:
                        await stop_workers(run.workers)


@dataclass(frozen=True, slots=True)
class _Run:
    app: Penstock
    addresses: Addresses
    connection: Connection
    folder: Path
    progress: DemoProgress
    workers: list[Worker] = field(default_factory=list)


async def _run_demo(run: _Run, tasks: int, seconds: float) -> DemoResult:
    await _start_workers(run)
    first, second = run.workers
    run.progress.say(f"Two workers: processes {first.pid} and {second.pid}.")
    started, rate = monotonic(), DemoRate()
    enqueueing = asyncio.create_task(_enqueue(run.app, tasks, seconds))
    killed = held = 0
    try:
        while True:
            counts = await count(run.connection, tasks)
            _show_counts(run.progress, counts, rate)
            if not killed and counts.done >= tasks * KILL_AT:
                killed, held = first.pid, await kill_worker(run.connection, first)
                run.progress.say(
                    f"kill -9 {killed}: it held {output.count(held, 'task')}; {second.pid} takes over."
                )
            took = monotonic() - started
            if (enqueueing.done() and counts.drained) or took > GIVE_UP_SECONDS + seconds:
                await enqueueing
                return DemoResult(counts, killed, held, took, run.folder)
            await asyncio.sleep(POLL_SECONDS)
    finally:
        enqueueing.cancel()


def _show_counts(progress: DemoProgress, counts: Counts, rate: DemoRate) -> None:
    ended = counts.done + counts.dead
    progress.update(
        ended,
        counts.enqueued,
        f"queued {counts.queued:,}  leased {counts.running:,}  done {counts.done:,}  "
        f"failed {counts.failures:,}  dead {counts.dead:,}  {rate.after(ended):,.0f}/s",
    )


async def _enqueue(app: Penstock, tasks: int, seconds: float) -> None:
    """Enqueue the mixture in batches, each in one transaction."""
    special = {name: max(1, int(tasks * share)) for name, share in MIXTURE.items()}
    wanted = {**special, "demo.document": tasks - sum(special.values())}
    rounds = max(1, min(tasks // 100, int(seconds * 10)))
    for turn in range(rounds):
        for name, total in wanted.items():
            first, last = total * turn // rounds, total * (turn + 1) // rounds
            payloads = [{"number": number} for number in range(first, last)]
            for start in range(0, len(payloads), 1_000):
                await app.registry.types[name].enqueue_many(payloads[start : start + 1_000])
        if turn < rounds - 1:
            await asyncio.sleep(seconds / rounds)


async def _start_workers(run: _Run) -> None:
    for number in (1, 2):
        words = ("worker", "--app", "penstock.cli.demo.app:app")
        variables = {"PENSTOCK_CONCURRENCY": "4"}
        run.workers.append(await start_worker(run.addresses, run.folder, number, words, variables))
    await until_registered(run.connection, run.workers, run.folder)
