"""`penstock schedule`: list cron schedules, run one now, pause and resume them."""

from __future__ import annotations

from typing import Annotated

import typer

from penstock.cli import completion, output
from penstock.cli.auditing import audited_operations
from penstock.cli.session import operations, run
from penstock.queue.operator_rows import ScheduleRow

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

Name = Annotated[str, typer.Argument(metavar="NAME", autocompletion=completion.schedules)]

COLUMNS = ("schedule_name", "cron", "timezone", "task_type", "enabled", "next_at", "last_at", "last_task_id")


@group.command("list")
def list_schedules(as_json: output.AsJson = False) -> None:
    """List schedules with their last and next run times."""

    async def call() -> list[ScheduleRow]:
        async with operations() as calls:
            return await calls.schedules()

    rows = run(call())
    if as_json:
        output.document({"schedules": rows})
    else:
        output.records(COLUMNS, rows, empty="No schedules; an app declares them with app.schedule().")


@group.command("run")
def run_now(name: Name, as_json: output.AsJson = False) -> None:
    """Enqueue a schedule's task now, in addition to its regular runs."""

    async def call() -> int:
        async with audited_operations("schedule run", name) as (calls, _):
            return await calls.run_schedule(name)

    task_id = run(call())
    if as_json:
        output.document({"schedule": name, "task_id": task_id})
    else:
        output.write(f"Enqueued task {task_id}.")


@group.command("pause")
def pause(name: Name, as_json: output.AsJson = False) -> None:
    """Pause a schedule: it enqueues nothing until it is resumed."""
    _switch(name, enabled=False, as_json=as_json)


@group.command("resume")
def resume(name: Name, as_json: output.AsJson = False) -> None:
    """Resume a paused schedule."""
    _switch(name, enabled=True, as_json=as_json)


def _switch(name: str, *, enabled: bool, as_json: bool) -> None:
    async def call() -> None:
        async with audited_operations(f"schedule {'resume' if enabled else 'pause'}", name) as (calls, _):
            await calls.set_schedule(name, enabled)

    run(call())
    if as_json:
        output.document({"schedule": name, "enabled": enabled})
    else:
        output.write(f"The schedule {name} is {'on' if enabled else 'off'}.")
