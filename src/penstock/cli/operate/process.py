"""`penstock process`: list and show supervised processes, and restart failed ones."""

from __future__ import annotations

import re
from dataclasses import asdict
from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.auditing import audited, over
from penstock.cli.operate.process_timeline import Moment, timeline, verdict
from penstock.cli.operate.task import LARGEST_ID
from penstock.cli.session import operator, run
from penstock.observe.formats import escape
from penstock.processes.operation_rows import ProcessRow, ProcessState, ShownProcess
from penstock.processes.operations import ProcessOperations

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)


class State(StrEnum):
    OPEN = "open"
    SUCCEEDED = "succeeded"
    FAILED = "failed"


Id = Annotated[
    str,
    typer.Argument(
        metavar="ID",
        help="The id shown by penstock process list, such as comms.send_email/12; the schema is optional.",
    ),
]
Process = Annotated[str | None, typer.Option(help="Only runs of this process, such as comms.send_email.")]
Tenant = Annotated[str | None, typer.Option(metavar="SLUG", help="Only this tenant's processes.")]
Only = Annotated[State | None, typer.Option("--state", help="Only processes in this state.")]
Limit = Annotated[int, typer.Option(min=1, max=10_000, help="Maximum number to show.")]

LISTED = ("id", "tenant", "state", "attempts", "next_check_at", "error_message")
WRITTEN_ID = re.compile(r"((?:[a-z_][a-z0-9_]*\.)?[a-z_][a-z0-9_]*)/([0-9]{1,19})")


@group.command("list")
def list_processes(
    process: Process = None,
    tenant: Tenant = None,
    state: Only = None,
    limit: Limit = 50,
    as_json: output.AsJson = False,
) -> None:
    """List processes of all tenants, newest first.

    Attempts are shown as failed/total.
    """

    async def call() -> list[ProcessRow]:
        async with operator() as connection:
            chosen: ProcessState | None = None if state is None else state.value
            return await ProcessOperations(connection).list(process, tenant, chosen, limit)

    rows = run(call())
    if as_json:
        output.document({"processes": rows})
        return
    cells = [
        (
            row.id,
            row.tenant,
            row.state,
            f"{row.failed_attempts}/{row.attempts}",
            row.next_check_at,
            row.error_message,
        )
        for row in rows
    ]
    output.table(LISTED, cells, empty="No processes.")


@group.command("show")
def show(process_id: Id, as_json: output.AsJson = False) -> None:
    """Show one process with a timeline of its attempts and checks."""
    name, root_id = _parts(process_id)

    async def call() -> ShownProcess:
        async with operator() as connection:
            return await ProcessOperations(connection).show(name, root_id)

    found = run(call())
    if as_json:
        output.document({**asdict(found), "timeline": timeline(found)})
        return
    failures = sum(attempt.outcome == "failed" for attempt in found.attempts)
    output.facts(
        {
            "id": found.id,
            "channel": found.channel,
            "tenant": found.tenant or found.tenant_id,
            "about": ", ".join(f"{name} {value}" for name, value in found.about.items()) or found.tenant_id,
            "state": verdict(found),
            "attempts": f"{len(found.attempts)}, {failures} failed",
        }
        | ({} if found.swept is None else {"swept": found.swept})
    )
    output.write("")
    for moment in timeline(found):
        output.write(_line(moment))
    if found.state == "failed":
        output.write(f"\nOnce the cause is fixed: penstock process retry {found.id}")


@group.command("retry")
def retry(process_id: Id, as_json: output.AsJson = False) -> None:
    """Restart a failed process; earlier failures no longer count."""
    name, root_id = _parts(process_id)

    async def call() -> str:
        async with operator() as connection, audited(over(connection), "process retry", process_id):
            return await ProcessOperations(connection).restart(name, root_id)

    restarted = run(call())
    if as_json:
        output.document({"id": restarted, "result": "restarted"})
    else:
        output.write(f"{restarted}  restarted")


def _parts(process_id: str) -> tuple[str, int]:
    """The process's name and its number."""
    written = WRITTEN_ID.fullmatch(process_id)
    if written is None or not 1 <= int(written[2]) <= LARGEST_ID:
        raise typer.BadParameter(
            f"{process_id!r} is not a process id; an id looks like comms.send_email/12", param_hint="ID"
        )
    return written[1], int(written[2])


def _line(moment: Moment) -> str:
    number = "" if moment.attempt is None else f"attempt {moment.attempt}"
    task = None if moment.task_id is None else f"task {moment.task_id} is {moment.task_state or 'gone'}"
    said = ", ".join(part for part in (task, moment.message) if part)
    return f"{output.cell(moment.at)}  {moment.event:<17}  {number:<10}  {escape(said)}".rstrip()
