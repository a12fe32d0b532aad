"""`penstock queue`: list, statistics, pause and resume, limits, workers."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated

import typer

from penstock.cli import completion, output
from penstock.cli.auditing import audited, audited_operations, over, user
from penstock.cli.confirmation import DryRun, would
from penstock.cli.operate.rates import parse_count, parse_rate, show_rate
from penstock.cli.session import operations, operator, run
from penstock.model.rows import plain
from penstock.queue.look_rows import WorkerItem
from penstock.queue.looks import Looks
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import Limit, QueueStats

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Queue = Annotated[str, typer.Argument(metavar="QUEUE", autocompletion=completion.queues)]
SomeQueue = Annotated[str | None, typer.Argument(metavar="QUEUE", autocompletion=completion.queues)]
Watch = Annotated[
    bool, typer.Option("--watch", help="Refresh until Ctrl-C; with --json, one document per line.")
]
Every = Annotated[float, typer.Option(min=0.1, max=3600, help="Seconds between refreshes.")]
MaxRunning = Annotated[str | None, typer.Option(metavar="N|none", help="Maximum tasks running at once.")]
Rate = Annotated[
    str | None,
    typer.Option(metavar="100/min|none", help="Maximum tasks started in a period, such as 100/min."),
]
Burst = Annotated[int | None, typer.Option(min=1, help="Tasks of the rate that may start at once.")]
EachKey = Annotated[bool, typer.Option("--each-key", help="Apply the limit to each limit key separately.")]
Key = Annotated[str | None, typer.Option(help="Apply the limit to this limit key.")]

LISTED = ("queue", "paused", "ready", "waiting", "running", "max_running", "rate", "workers")
EMPTY = "No queues. A worker creates those that it serves: penstock worker"
COLUMNS = (
    *("queue", "paused", "ready", "running", "waiting", "parked", "dead"),
    *("oldest s", "limit", "rate", "workers"),
)


@group.command("list")
def list_queues(as_json: output.AsJson = False) -> None:
    """List the queues, their tasks and their limits."""

    async def call() -> list[QueueStats]:
        async with operations() as calls:
            return await calls.stats()

    rows = run(call())
    if as_json:
        output.document({"queues": [{name: getattr(row, name) for name in LISTED} for row in rows]})
        return
    output.records(LISTED, rows, empty=EMPTY)


@group.command("stats")
def stats(
    queue: SomeQueue = None, watch: Watch = False, every: Every = 1.0, as_json: output.AsJson = False
) -> None:
    """Count waiting, running and dead tasks of each queue."""

    async def call() -> None:
        async with operations() as calls:
            while True:
                rows = await calls.stats(queue)
                if watch and not as_json and sys.stdout.isatty():
                    output.write("\x1b[H\x1b[J", end="")
                _show(rows, as_json=as_json, one_line=watch)
                if not watch:
                    return
                await asyncio.sleep(every)

    run(call())


@group.command("pause")
def pause(queue: Queue, as_json: output.AsJson = False) -> None:
    """Stop workers from taking tasks of a queue."""

    async def call() -> None:
        async with audited_operations("queue pause", queue) as (calls, _):
            await calls.pause(queue)

    run(call())
    _say(queue, paused=True, as_json=as_json)


@group.command("resume")
def resume(queue: Queue, as_json: output.AsJson = False) -> None:
    """Let workers take tasks of a paused queue again."""

    async def call() -> None:
        async with audited_operations("queue resume", queue) as (calls, _):
            await calls.resume(queue)

    run(call())
    _say(queue, paused=False, as_json=as_json)


@group.command("limits")
def limits(
    queue: Queue,
    max_running: MaxRunning = None,
    rate: Rate = None,
    burst: Burst = None,
    each_key: EachKey = False,
    key: Key = None,
    as_json: output.AsJson = False,
) -> None:
    """Show or change a queue's limits.

    Limits you do not name keep their value.
    """
    if each_key and key is not None:
        raise typer.BadParameter("--each-key and --key cannot be used together", param_hint="--key")
    scope = "each_key" if each_key else "queue" if key is None else "key"
    changed = max_running is not None or rate is not None or burst is not None
    count, seconds = (None, None) if rate in (None, "none") else parse_rate(str(rate))
    running = None if max_running in (None, "none") else parse_count(str(max_running))

    async def call() -> list[Limit]:
        if not changed:
            async with operations() as calls:
                return await calls.limits(queue, key)
        async with audited_operations("queue limits", queue) as (calls, facts):
            facts["scope"] = scope
            known = {limit.scope.split()[0]: limit for limit in await calls.limits(queue, key)}
            wanted = replace(known.get(scope, Limit(queue, scope)), scope=scope)
            if max_running is not None:
                wanted = replace(wanted, max_running=running)
            if rate is not None:
                wanted = replace(wanted, rate_count=count, rate_period_seconds=seconds)
            if burst is not None or rate == "none":
                wanted = replace(wanted, rate_burst=burst)
            await calls.put_limits(wanted, key)
            return await calls.limits(queue, key)

    rows = run(call())
    if as_json:
        output.document({"queue": queue, "limits": rows})
    else:
        columns = ("scope", "max running", "rate", "burst")
        shown = [
            (r.scope, r.max_running, show_rate(r.rate_count, r.rate_period_seconds), r.rate_burst)
            for r in rows
        ]
        output.table(columns, shown, empty=f"No limits of the queue {queue}.")


@group.command("workers")
def workers(as_json: output.AsJson = False) -> None:
    """List the workers of the last day, with their queues."""

    async def call() -> list[WorkerItem]:
        async with operator() as connection:
            return await Looks(connection).workers()

    rows = run(call())
    if as_json:
        output.document({"workers": [plain(row) for row in rows]})
        return
    output.table(
        ("id", "worker", "state", "tasks", "silent s", "queues"),
        [
            (r.worker_id, r.worker, r.state, r.leases, round(r.silent_seconds, 1), ", ".join(r.queues))
            for r in rows
        ],
        empty="No worker has run within the last day.",
    )


@group.command("stop-worker")
def stop_worker(
    worker: Annotated[int, typer.Argument(min=1, metavar="WORKER", help="The worker's id.")],
    dry_run: DryRun = False,
    as_json: output.AsJson = False,
) -> None:
    """Ask a worker to stop, as SIGTERM does.

    It finishes or hands back what it holds, and exits.

    Whatever keeps it running (systemd, Kubernetes, penstock up) starts a new one.
    """

    async def call() -> bool | WorkerItem | None:
        async with operator() as connection:
            if dry_run:
                found = await Looks(connection).workers()
                return next((each for each in found if each.worker_id == worker), None)
            async with audited(over(connection), "queue stop-worker", str(worker)):
                return await Operations(connection).stop_worker(worker, user())

    answer = run(call())
    if dry_run:
        can = isinstance(answer, WorkerItem) and answer.state in ("alive", "silent")
        what = f"ask worker {worker} to stop" if can else f"change nothing: worker {worker} does not run"
        would(what, as_json=as_json, count=int(can))
    elif as_json:
        output.document({"worker_id": worker, "asked": bool(answer)})
    elif answer:
        output.write(f"Worker {worker} was asked to stop; penstock queue workers shows when it has.")
    else:
        output.write(f"Worker {worker} has ended, or was asked before.")


def _show(rows: Sequence[QueueStats], *, as_json: bool, one_line: bool) -> None:
    if as_json:
        output.document({"queues": rows}, one_line=one_line)
        return
    cells = [
        [
            *(r.queue, r.paused, r.ready, r.running, r.waiting, r.parked, r.dead),
            *(r.oldest_ready_seconds, r.max_running, r.rate, r.workers),
        ]
        for r in rows
    ]
    output.table(COLUMNS, cells, empty=EMPTY)


def _say(queue: str, *, paused: bool, as_json: bool) -> None:
    if as_json:
        output.document({"queue": queue, "paused": paused})
    else:
        output.write(f"The queue {queue} is {'paused' if paused else 'running'}.")
