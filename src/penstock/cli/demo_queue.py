"""`penstock demo --queue`: a burst of tasks, two workers, one killed in the middle, and the count."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic

from penstock.app import Penstock
from penstock.cli import demo_app, output
from penstock.cli.demo_counts import Counts, count
from penstock.cli.demo_ground import own_database, own_folder
from penstock.cli.demo_show import Rate, Show, showing
from penstock.cli.demo_summary import Result
from penstock.cli.demo_workers import Worker, kill_worker, start_worker, stop_workers, until_registered
from penstock.db import Connection
from penstock.db.addresses import Addresses
from penstock.db.reach import reach

LOOK_SECONDS = 0.1
KILL_AT = 0.4
GIVE_UP_SECONDS = 120.0
MIXTURE = {"demo.urgent": 0.1, "demo.flaky": 0.02, "demo.broken": 0.004}


async def play(tasks: int, seconds: float, *, quiet: bool) -> Result:
    """The whole piece; nothing of it runs when this returns."""
    with own_folder() as folder, showing(quiet=quiet) as show:
        show.say(f"Postgres in {folder} …")
        async with own_database(folder) as (addresses, settings):
            async with demo_app.app(settings) as app:
                async with reach(addresses.admin, application_name="penstock demo") as line:
                    stage = _Stage(app, addresses, line, folder, show)
                    try:
                        return await _perform(stage, tasks, seconds)
                    finally:
                        await stop_workers(stage.workers)


@dataclass(frozen=True, slots=True)
class _Stage:
    app: Penstock
    addresses: Addresses
    connection: Connection
    folder: Path
    show: Show
    workers: list[Worker] = field(default_factory=list)


async def _perform(stage: _Stage, tasks: int, seconds: float) -> Result:
    await _start_workers(stage)
    first, second = stage.workers
    stage.show.say(f"Two workers: processes {first.pid} and {second.pid}.")
    started, rate = monotonic(), Rate()
    enqueueing = asyncio.create_task(_enqueue(stage.app, tasks, seconds))
    killed = held = 0
    try:
        while True:
            counts = await count(stage.connection, tasks)
            _look(stage.show, counts, rate)
            if not killed and counts.done >= tasks * KILL_AT:
                killed, held = first.pid, await kill_worker(stage.connection, first)
                stage.show.say(
                    f"kill -9 {killed}: it held {output.count(held, 'task')}, which {second.pid} takes back."
                )
            took = monotonic() - started
            if (enqueueing.done() and counts.drained) or took > GIVE_UP_SECONDS + seconds:
                await enqueueing
                return Result(counts, killed, held, took, stage.folder)
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        enqueueing.cancel()


def _look(show: Show, counts: Counts, rate: Rate) -> None:
    ended = counts.done + counts.dead
    show.look(
        ended,
        counts.enqueued,
        f"queued {counts.queued:,}  leased {counts.running:,}  done {counts.done:,}  "
        f"failed {counts.failures:,}  dead {counts.dead:,}  {rate.after(ended):,.0f}/s",
    )


async def _enqueue(app: Penstock, tasks: int, seconds: float) -> None:
    """The mixture in batches, each batch one transaction."""
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


async def _start_workers(stage: _Stage) -> None:
    for number in (1, 2):
        words = ("worker", "--app", "penstock.cli.demo_app:app")
        variables = {"PENSTOCK_CONCURRENCY": "4"}
        stage.workers.append(await start_worker(stage.addresses, stage.folder, number, words, variables))
    await until_registered(stage.connection, stage.workers, stage.folder)
