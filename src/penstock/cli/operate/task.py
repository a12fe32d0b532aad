"""`penstock task`: show, list, cancel and retry tasks."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from typing import Annotated, cast

import typer

from penstock.cli import completion, output
from penstock.cli.auditing import audited, over
from penstock.cli.confirmation import DryRun, would
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import describe, warn
from penstock.cli.session import operations, operator, run
from penstock.errors import InvalidMove, PenstockError, Refused
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import DeadFilter

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

LARGEST_ID = 2**63 - 1
TaskId = Annotated[int, typer.Argument(metavar="ID", min=1, max=LARGEST_ID)]
TaskIds = Annotated[list[int], typer.Argument(metavar="ID", min=1, max=LARGEST_ID)]
State = Annotated[
    str,
    typer.Option(
        help="Task state: running, ready, waiting, parked, dead, or an outcome such as completed or failed."
    ),
]
Queue = Annotated[str | None, typer.Option(help="Only this queue.", autocompletion=completion.queues)]
Type = Annotated[
    str | None,
    typer.Option("--type", help="Only this task type.", autocompletion=completion.task_types),
]
Limit = Annotated[int, typer.Option(min=1, max=100_000, help="Maximum number to show.")]
Why = Annotated[str | None, typer.Option(help="The reason to record.")]

FACTS = (
    *(
        "task_id",
        "task_type",
        "state",
        "queue",
        "priority",
        "tenant_id",
        "enqueued_at",
        "scheduled_at",
        "due_at",
    ),
    *("has_unique_key", "has_limit_key", "payload", "lease"),
)
HISTORY = {
    "attempts": ("attempt", "outcome", "worker_id", "claimed_at", "closed_at"),
    "errors": ("attempt", "error_code", "occurred_at", "error_message"),
}
REMEDIES = {
    "running": "Wait for it, or cancel it: penstock task cancel {id}",
    "ready": "It will run when its turn comes; to see what it waits for: penstock explain {id}",
    "parked": "It will start when its key is free; to see what it waits for: penstock explain {id}",
}


@group.command("show")
def show(task_id: TaskId, as_json: output.AsJson = False) -> None:
    """Show everything about one task: state, attempts, errors, payload."""

    async def call() -> dict[str, object]:
        async with operations() as calls:
            return await calls.show_task(task_id)

    found = run(call())
    if as_json:
        output.document(found)
        return
    output.facts({name: _moment(name, found[name]) for name in FACTS if found.get(name) is not None})
    for title, columns in HISTORY.items():
        rows = [
            [_moment(name, row[name]) for name in columns]
            for row in cast("list[dict[str, object]]", found[title])
        ]
        if rows:
            output.write(f"\n{title}")
            output.table(columns, rows)


def _moment(name: str, value: object) -> object:
    """Convert the timestamps of a JSON document back to datetimes."""
    return datetime.fromisoformat(value) if name.endswith("_at") and isinstance(value, str) else value


@group.command("list")
def list_tasks(
    state: State = "running",
    queue: Queue = None,
    task_type: Type = None,
    limit: Limit = 50,
    as_json: output.AsJson = False,
) -> None:
    """List tasks in one state."""

    async def call() -> Sequence[object]:
        async with operations() as calls:
            if queue is not None:
                await calls.stats(queue)
            return await calls.list_tasks(state, queue, task_type, limit)

    rows = run(call())
    columns = ("task_id", "task_type", "queue", "attempt", "at", "worker_id")
    if as_json:
        output.document({"tasks": rows})
    else:
        output.records(columns, rows, empty=f"No tasks are {state}.")


@group.command("cancel")
def cancel(
    task_ids: TaskIds, reason: Why = None, dry_run: DryRun = False, as_json: output.AsJson = False
) -> None:
    """Cancel waiting tasks, and ask running ones to stop."""
    if dry_run:
        _would_cancel(task_ids, as_json=as_json)
        return

    async def one(calls: Operations, task_id: int) -> str:
        return await calls.cancel_task(task_id, reason)

    _each("task cancel", task_ids, one, as_json=as_json)


def _would_cancel(task_ids: Sequence[int], *, as_json: bool) -> None:
    async def call() -> list[dict[str, object]]:
        async with operations() as calls:
            return [await calls.show_task(task_id) for task_id in task_ids]

    found = [{"task_id": task["task_id"], "state": task["state"]} for task in run(call())]
    open_now = [task for task in found if task["state"] in ("ready", "waiting", "parked", "running")]
    if not as_json:
        output.table(("task_id", "state"), [[task["task_id"], task["state"]] for task in found])
    would(f"cancel {output.count(len(open_now), 'task')}", as_json=as_json, count=len(open_now), tasks=found)


@group.command("retry")
def retry(task_ids: TaskIds, as_json: output.AsJson = False) -> None:
    """Run waiting tasks or dead letters now.

    Dead letters get a full set of attempts.
    """

    async def one(calls: Operations, task_id: int) -> str:
        state = str((await calls.show_task(task_id))["state"])
        if state == "waiting" and await calls.run_now(task_id):
            return "due"
        if state == "dead" and await calls.replay(DeadFilter(task_ids=(task_id,))):
            return "replayed"
        remedy = REMEDIES.get(state, "Enqueue it again to run it once more")
        raise InvalidMove(f"task {task_id} is {state}", "task_id", remedy.format(id=task_id))

    _each("task retry", task_ids, one, as_json=as_json)


def _each(
    action: str, task_ids: Sequence[int], one: Callable[[Operations, int], Awaitable[str]], *, as_json: bool
) -> None:
    """Apply an action to each task; one failure does not stop the others but sets the exit code."""

    async def call() -> list[tuple[int, str | PenstockError]]:
        done: list[tuple[int, str | PenstockError]] = []
        async with operator() as connection:
            calls = Operations(connection)
            for task_id in task_ids:
                try:
                    async with audited(over(connection), action, str(task_id)):
                        done.append((task_id, await one(calls, task_id)))
                except Refused as error:
                    done.append((task_id, error))
        return done

    results = run(call())
    if len(results) == 1 and isinstance(results[0][1], PenstockError):
        raise results[0][1]
    refused = False
    rows = []
    for task_id, result in results:
        failed = describe(result) if isinstance(result, PenstockError) else None
        rows.append({"task_id": task_id, "result": result if failed is None else "refused", "error": failed})
        refused = refused or failed is not None
        if not as_json:
            output.write(f"{task_id}  {result}") if failed is None else warn(f"error: {failed.line()}")
    if as_json:
        output.document({"tasks": rows})
    if refused:
        raise typer.Exit(Exit.REFUSED)
