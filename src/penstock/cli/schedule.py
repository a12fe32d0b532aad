"""`penstock schedule`: the cron schedules, and running one now."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.session import operations, run
from penstock.queue.operator_rows import ScheduleRow

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

COLUMNS = ("schedule_name", "cron", "timezone", "task_type", "enabled", "next_at", "last_at", "last_task_id")


@group.command("list")
def list_schedules(as_json: output.AsJson = False) -> None:
    """The schedules with their next and last ticks."""

    async def call() -> list[ScheduleRow]:
        async with operations() as calls:
            return await calls.schedules()

    rows = run(call())
    if as_json:
        output.document({"schedules": rows})
    else:
        output.records(COLUMNS, rows, empty="No schedules; an app declares them with app.schedule().")


@group.command("run")
def run_now(name: Annotated[str, typer.Argument(metavar="NAME")], as_json: output.AsJson = False) -> None:
    """Enqueue a schedule's task now, apart from its ticks."""

    async def call() -> int:
        async with operations() as calls:
            return await calls.run_schedule(name)

    task_id = run(call())
    if as_json:
        output.document({"schedule": name, "task_id": task_id})
    else:
        output.write(f"Enqueued task {task_id}.")
