"""`penstock inlet`: add, list, show, pause, resume, replay and remove; `penstock inlet NAME` runs one."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from penstock.cli import completion, output
from penstock.cli.auditing import audited, over
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.inlets import add
from penstock.cli.inlets.add_bullmq import add_bullmq
from penstock.cli.session import operator, run
from penstock.inlets.operations import InletFigures, InletOperations, Refusal
from penstock.settings import Settings


class _OrRun(TyperGroup):
    """A word that is no command is the name of an inlet to run."""

    def resolve_command(self, ctx: Any, args: list[str]) -> Any:
        if args and not args[0].startswith("-") and self.get_command(ctx, args[0]) is None:
            args = ["run", *args]
        return super().resolve_command(ctx, args)


group = typer.Typer(cls=_OrRun, no_args_is_help=True, rich_markup_mode=None)
add.group.command("bullmq")(add_bullmq)
group.add_typer(add.group, name="add", help="Add an inlet: one command per kind of sender.")

Name = Annotated[
    str,
    typer.Argument(metavar="NAME", help="The inlet's name.", autocompletion=completion.inlets),
]
PGMQ = "pgmq:"
"""No inlet's name has a colon."""
COLUMNS = (
    *("name", "kind", "enabled", "received", "taken", "duplicates", "refused"),
    *("lag_seconds", "backlog", "holder", "error"),
)


@group.command("list")
def list_inlets(as_json: output.AsJson = False) -> None:
    """List inlets with their counts.

    Messages received, taken, found to be duplicates, and refused.
    """

    async def call() -> list[InletFigures]:
        async with operator() as connection:
            return await InletOperations(connection).list()

    rows = run(call())
    if as_json:
        output.document({"inlets": rows})
    else:
        output.records(COLUMNS, rows, empty="No inlets. Add one: penstock inlet add --help")


@group.command("show")
def show(name: Name, as_json: output.AsJson = False) -> None:
    """Show one inlet and the messages it refused.

    The newest refused messages, each with the reason.
    """
    from penstock.inlets.redrive import REMEDY, missing_redrive

    async def call() -> tuple[InletFigures, list[Refusal], str | None]:
        async with operator() as connection:
            calls = InletOperations(connection)
            found, refusals = await calls.show(name), list(await calls.refusals(name))
        return found, refusals, await missing_redrive(Settings(), found.kind, found.config)

    found, refusals, warning = run(call())
    if as_json:
        warnings = [] if warning is None else [f"{warning}. {REMEDY}"]
        output.document({**asdict(found), "refusals": refusals, "warnings": warnings})
        return
    output.facts(asdict(found))
    if warning is not None:
        output.write(f"\nWarning: {warning}. {REMEDY}")
    if refusals:
        output.write("\nRefused:")
        output.records(("at", "message_key", "reason"), refusals)


@group.command("pause")
def pause(name: Name, as_json: output.AsJson = False) -> None:
    """Pause an inlet; messages stay with their sender."""
    _switch(name, enabled=False, as_json=as_json)


@group.command("resume")
def resume(name: Name, as_json: output.AsJson = False) -> None:
    """Resume a paused inlet."""
    _switch(name, enabled=True, as_json=as_json)


@group.command("replay")
def replay(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME",
            help="The inlet's name; or pgmq:QUEUE, a queue that only a consumer of your own reads.",
            autocompletion=completion.inlets,
        ),
    ],
    message_ids: Annotated[
        list[int] | None,
        typer.Argument(
            metavar="[MSG_ID]...",
            help="Archived messages; default: all refused, or of pgmq:QUEUE all delivered five times.",
        ),
    ] = None,
    dry_run: DryRun = False,
    as_json: output.AsJson = False,
) -> None:
    """Resend messages from the archive of a pgmq queue."""
    queue = name.removeprefix(PGMQ) if name.startswith(PGMQ) else None
    about = {"inlet": name} if queue is None else {"queue": queue}

    async def resend(calls: InletOperations) -> int:
        ids = message_ids or ()
        return await (calls.replay(name, ids) if queue is None else calls.replay_queue(queue, ids))

    async def look() -> int:
        async with operator() as connection:
            transaction = connection.transaction()
            await transaction.start()
            try:
                return await resend(InletOperations(connection))
            finally:
                await transaction.rollback()

    async def call() -> int:
        async with operator() as connection, audited(over(connection), "inlet replay", name):
            return await resend(InletOperations(connection))

    if dry_run:
        meant = run(look())
        would(f"send {output.count(meant, 'message')} again", as_json=as_json, count=meant, **about)
        return

    count = run(call())
    if as_json:
        output.document({**about, "replayed": count})
    else:
        output.write(f"Sent {output.count(count, 'message')} again.")


@group.command("remove")
def remove(name: Name, yes: Yes = False, dry_run: DryRun = False, as_json: output.AsJson = False) -> None:
    """Remove an inlet. Its tasks stay; adding the same source again takes nothing twice."""

    async def look() -> InletFigures:
        async with operator() as connection:
            return await InletOperations(connection).show(name)

    async def call() -> None:
        async with operator() as connection, audited(over(connection), "inlet remove", name):
            await InletOperations(connection).remove(name)

    found = run(look())
    taken = output.count(found.taken, "message")
    meant = f"remove the inlet {name}, which has taken in {taken}"
    if dry_run:
        would(meant, as_json=as_json, count=found.taken, inlet=name)
        return
    confirm(meant, yes=yes, as_json=as_json)
    run(call())
    if as_json:
        output.document({"inlet": name, "removed": True, "taken": found.taken})
    else:
        output.write(f"Removed the inlet {name}; it had taken in {taken}.")


@group.command("run", hidden=True)
def run_one(name: Name) -> None:
    """Read one inlet in the foreground, until SIGTERM or Ctrl-C; the same as penstock inlet NAME."""
    from penstock.cli.inlets.running import run_inlet

    run_inlet(name)


def _switch(name: str, *, enabled: bool, as_json: bool) -> None:
    verb = "resume" if enabled else "pause"

    async def call() -> None:
        async with operator() as connection, audited(over(connection), f"inlet {verb}", name):
            await InletOperations(connection).set_enabled(name, enabled)

    run(call())
    if as_json:
        output.document({"inlet": name, "enabled": enabled})
    else:
        output.write(f"The inlet {name} is {'resumed' if enabled else 'paused'}.")
