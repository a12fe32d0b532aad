"""`penstock demo`: a burst of tasks, two workers, one killed in the middle, and the count at the end."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from time import monotonic
from typing import Annotated, Any

import typer

from penstock.app import Penstock
from penstock.cli import demo_app, output
from penstock.cli.demo_counts import count
from penstock.cli.demo_show import Show, showing
from penstock.cli.demo_summary import Result, show_result
from penstock.cli.demo_workers import Worker, start_worker, stop_workers
from penstock.cli.exit_codes import Exit
from penstock.cli.session import database, run
from penstock.db import Connection
from penstock.db.addresses import Addresses
from penstock.db.embedded import DATABASE
from penstock.db.flock import FileLock
from penstock.db.reach import reach
from penstock.errors import InvalidMove
from penstock.queue.operations import Operations
from penstock.settings import Settings

LOOK_SECONDS = 0.1
KILL_AT = 0.4
GIVE_UP_SECONDS = 120.0
MIXTURE = {"demo.urgent": 0.1, "demo.flaky": 0.02, "demo.broken": 0.004}

Tasks = Annotated[int, typer.Option(min=100, max=1_000_000, help="How many tasks.")]
Seconds = Annotated[float, typer.Option(min=0, max=3_600, help="Spread the burst over so many seconds.")]


def command(tasks: Tasks = 5_000, seconds: Seconds = 0, as_json: output.AsJson = False) -> None:
    """See a queue lose nothing.

    Starts a Postgres of its own under the data directory and two workers, enqueues a burst of mixed tasks,
    kills one worker with SIGKILL in the middle, and counts.
    """
    try:
        result = run(_play(tasks, seconds, quiet=as_json))
    except asyncio.CancelledError:
        raise typer.Exit(Exit.INTERRUPTED) from None
    show_result(result, as_json=as_json)
    if not result.whole:
        raise typer.Exit(Exit.REFUSED)


async def _play(tasks: int, seconds: float, *, quiet: bool) -> Result:
    task = asyncio.current_task()
    assert task is not None
    for number in (signal.SIGTERM, signal.SIGHUP):
        asyncio.get_running_loop().add_signal_handler(number, task.cancel)
    folder = (Settings().data_dir / "demo").absolute()
    nobody_else = _alone(folder)
    try:
        with showing(tasks, quiet=quiet) as show:
            async with _set_up(folder, show) as stage:
                try:
                    return await _perform(stage, tasks, seconds)
                finally:
                    await stop_workers(stage.workers)
    finally:
        nobody_else.release()


@dataclass(frozen=True, slots=True)
class _Stage:
    app: Penstock
    addresses: Addresses
    connection: Connection
    folder: Path
    show: Show
    workers: list[Worker] = field(default_factory=list)


@asynccontextmanager
async def _set_up(folder: Path, show: Show) -> AsyncIterator[_Stage]:
    """A fresh database on a server of our own, and the app on it."""
    # Whatever the environment or .env says about databases, the demo stays with its own.
    own: dict[str, Any] = dict.fromkeys(("database_url", "admin_url", "operator_url", "listen_url"))
    settings = Settings(_env_file=None, data_dir=folder, **own)
    show.say(f"Postgres in {folder} …")
    async with database(settings, create=True, leave=False) as addresses:
        assert addresses.embedded is not None
        async with reach(
            addresses.embedded.url(database="postgres"), application_name="penstock demo"
        ) as line:
            await line.execute(f"drop database if exists {DATABASE} with (force)")
            await line.execute(f"create database {DATABASE}")
        async with demo_app.app(settings) as app:
            async with reach(addresses.admin, application_name="penstock demo") as line:
                yield _Stage(app, addresses, line, folder, show)


async def _perform(stage: _Stage, tasks: int, seconds: float) -> Result:
    await _start_workers(stage)
    first, second = stage.workers
    stage.show.say(f"Two workers: processes {first.pid} and {second.pid}.")
    started = monotonic()
    enqueueing = asyncio.create_task(_enqueue(stage.app, tasks, seconds))
    killed = held = 0
    try:
        while True:
            counts = await count(stage.connection, tasks)
            stage.show.look(counts)
            if not killed and counts.done >= tasks * KILL_AT:
                killed, held = first.pid, await _kill(stage.connection, first)
                stage.show.say(
                    f"kill -9 {killed}: it held {held} tasks, which {second.pid} takes back in seconds."
                )
            took = monotonic() - started
            if (enqueueing.done() and counts.drained) or took > GIVE_UP_SECONDS + seconds:
                await enqueueing
                return Result(counts, killed, held, took, stage.folder)
            await asyncio.sleep(LOOK_SECONDS)
    finally:
        enqueueing.cancel()


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


async def _kill(connection: Connection, worker: Worker) -> int:
    """SIGKILL, as the kernel does when memory is short; returns how many tasks it held."""
    worker.kill()
    await worker.wait()
    rows = await Operations(connection).workers()
    return sum(row.leases for row in rows if row.worker_name.endswith(f":{worker.pid}"))


async def _start_workers(stage: _Stage) -> None:
    for number in (1, 2):
        worker = await start_worker(stage.addresses, stage.folder, number)
        stage.workers.append(worker)
    while len(await Operations(stage.connection).workers()) < len(stage.workers):
        for number, worker in enumerate(stage.workers, 1):
            if worker.returncode is not None:
                remedy = f"Read {stage.folder}/worker-{number}.log"
                raise InvalidMove(f"worker {number} ended at once", None, remedy)
        await asyncio.sleep(0.05)


def _alone(folder: Path) -> FileLock:
    folder.mkdir(parents=True, exist_ok=True)
    lock = FileLock(folder / "running")
    if not lock.try_take():
        raise InvalidMove(f"a demo already runs in {folder}", None, "Wait for it, or set PENSTOCK_DATA_DIR")
    return lock
