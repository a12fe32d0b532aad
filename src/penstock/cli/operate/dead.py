"""`penstock dead`: list and show dead letters, and replay or purge them after showing how many."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import wraps
from inspect import Parameter, Signature, signature
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.auditing import audited, over
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.operate.dead_letter import letter_lines
from penstock.cli.operate.task import LARGEST_ID, Limit, TaskId, Type
from penstock.cli.progress import bar
from penstock.cli.session import operations, operator, run
from penstock.errors import TaskNotFound
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import DeadFilter

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

BATCH = 1_000


class DeathReason(StrEnum):
    EXHAUSTED = "exhausted"
    NOT_RETRIABLE = "not_retriable"
    QUARANTINED = "quarantined"


Ids = Annotated[list[int] | None, typer.Argument(metavar="ID", min=1, max=LARGEST_ID)]
Fingerprint = Annotated[
    str | None,
    typer.Option(help="Only dead letters with this cause; see penstock dead list --by-fingerprint."),
]
Code = Annotated[str | None, typer.Option("--code", help="Only dead letters with this error code.")]
Why = Annotated[
    DeathReason | None, typer.Option("--reason", help="Only dead letters that died for this reason.")
]
Everything = Annotated[bool, typer.Option("--all", help="All current dead letters.")]
AtMost = Annotated[int | None, typer.Option("--limit", min=1, help="Maximum number to replay, oldest first.")]
ByFingerprint = Annotated[bool, typer.Option("--by-fingerprint", help="Count dead letters by cause.")]

LETTERS = ("task_id", "task_type", "died_at", "error_code", "error_message")
CAUSES = ("letters", "fingerprint", "task_type", "error_code", "error_message")


@group.command("list")
def list_dead(
    task_type: Type = None,
    fingerprint: Fingerprint = None,
    code: Code = None,
    reason: Why = None,
    by_fingerprint: ByFingerprint = False,
    limit: Limit = 50,
    as_json: output.AsJson = False,
) -> None:
    """List dead letters, newest first."""
    chosen = DeadFilter((), task_type, fingerprint, code, reason)

    async def call() -> Sequence[object]:
        async with operations() as calls:
            if by_fingerprint:
                return await calls.causes(chosen, limit)
            return await calls.dead_letters(chosen, limit)

    rows = run(call())
    if as_json:
        output.document({"causes" if by_fingerprint else "dead": rows})
        return
    columns = CAUSES if by_fingerprint else LETTERS
    output.records(columns, rows, empty="No dead letters.")


@group.command("show")
def show(task_id: TaskId, as_json: output.AsJson = False) -> None:
    """Show one dead letter with its payload and errors."""

    async def call() -> dict[str, object]:
        async with operations() as calls:
            return await calls.show_dead(task_id)

    found = run(call())
    output.document(found) if as_json else output.write("\n".join(letter_lines(found)))


def selecting(command: Callable[..., None]) -> Callable[..., None]:
    """Give a command the arguments that select dead letters; it receives them as one filter."""

    @wraps(command, assigned=("__name__", "__doc__"))
    def with_selection(
        task_ids: Ids = None,
        task_type: Type = None,
        fingerprint: Fingerprint = None,
        code: Code = None,
        reason: Why = None,
        everything: Everything = False,
        **own: object,
    ) -> None:
        chosen = DeadFilter(tuple(task_ids or ()), task_type, fingerprint, code, reason)
        if everything != (chosen == DeadFilter()):
            raise typer.BadParameter("name ids, use a filter, or use --all on its own", param_hint="ID")
        command(chosen, **own)

    # Typer reads a command's options from its signature and annotations.
    _, *options = signature(command, eval_str=True).parameters.values()
    *selection, _ = signature(with_selection, follow_wrapped=False, eval_str=True).parameters.values()
    options = [option.replace(kind=Parameter.POSITIONAL_OR_KEYWORD) for option in options]
    vars(with_selection)["__signature__"] = Signature([*selection, *options], return_annotation=None)
    with_selection.__annotations__ = {each.name: each.annotation for each in (*selection, *options)}
    return with_selection


@group.command("replay")
@selecting
def replay(
    chosen: DeadFilter,
    limit: AtMost = None,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: output.AsJson = False,
) -> None:
    """Run dead letters again.

    They get a full set of attempts. It shows how many there are and asks for confirmation first.
    """

    if dry_run:
        _would(chosen, "replay", limit, as_json=as_json)
        return

    async def call() -> int:
        async with operator() as connection:
            calls = Operations(connection)
            # Tasks that die again during the replay are left out.
            meant = replace(chosen, died_before=await calls.clock())
            count = await _agreed(calls, meant, "replay", limit, yes=yes, as_json=as_json)
            async with audited(over(connection), "dead replay", _named(chosen)) as facts:
                facts["count"] = done = 0
                with bar("replay", count) as progress:
                    while done < count:
                        taken = len(await calls.replay(meant, min(BATCH, count - done)))
                        if not taken:
                            break
                        facts["count"] = done = done + taken
                        progress(done)
                return done

    replayed = run(call())
    said = f"Replayed {output.count(replayed, 'dead letter')}."
    output.document({"replayed": replayed}) if as_json else output.write(said)


@group.command("purge")
@selecting
def purge(
    chosen: DeadFilter, yes: Yes = False, dry_run: DryRun = False, as_json: output.AsJson = False
) -> None:
    """Delete dead letters for good.

    It shows how many there are and asks for confirmation first.
    """

    if dry_run:
        _would(chosen, "delete", None, as_json=as_json)
        return

    async def call() -> int:
        async with operator() as connection:
            calls = Operations(connection)
            meant = replace(chosen, died_before=await calls.clock())
            await _agreed(calls, meant, "delete", None, yes=yes, as_json=as_json)
            async with audited(over(connection), "dead purge", _named(chosen)) as facts:
                facts["count"] = purged = await calls.purge_dead(meant)
                return purged

    purged = run(call())
    said = f"Deleted {output.count(purged, 'dead letter')}."
    output.document({"purged": purged}) if as_json else output.write(said)


def _named(chosen: DeadFilter) -> str:
    """What was selected, as the audit shows it."""
    ids = ", ".join(map(str, chosen.task_ids[:20])) + (", …" if len(chosen.task_ids) > 20 else "")
    named = {
        "id": ids,
        "type": chosen.task_type,
        "fingerprint": chosen.fingerprint,
        "code": chosen.error_code,
        "reason": chosen.reason,
    }
    return ", ".join(f"{name} {value}" for name, value in named.items() if value) or "all"


def _would(chosen: DeadFilter, verb: str, limit: int | None, *, as_json: bool) -> None:
    async def call() -> int:
        async with operations() as calls:
            return await calls.count_dead(chosen)

    count = run(call())
    count = count if limit is None else min(count, limit)
    would(f"{verb} {output.count(count, 'dead letter')}", as_json=as_json, count=count)


async def _agreed(
    calls: Operations, meant: DeadFilter, verb: str, limit: int | None, *, yes: bool, as_json: bool
) -> int:
    """The number of dead letters, once the user has confirmed."""
    count = await calls.count_dead(meant)
    if count == 0:
        raise TaskNotFound("no dead letter matches", "filter", "See penstock dead list")
    count = count if limit is None else min(count, limit)
    confirm(f"{verb} {output.count(count, 'dead letter')}", yes=yes, as_json=as_json)
    return count
