"""`penstock dead`: list and show dead letters, replay or purge them after a look at how many."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from dataclasses import replace
from enum import StrEnum
from typing import Annotated

import typer

from penstock.cli import output
from penstock.cli.dead_letter import letter_lines
from penstock.cli.progress import bar
from penstock.cli.session import operations, run
from penstock.cli.task import LARGEST_ID, Limit, TaskId, Type
from penstock.errors import InvalidArgument, TaskNotFound
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import DeadFilter

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

BATCH = 1_000


class Reason(StrEnum):
    EXHAUSTED = "exhausted"
    NOT_RETRIABLE = "not_retriable"
    QUARANTINED = "quarantined"


Ids = Annotated[list[int] | None, typer.Argument(metavar="[ID…]", min=1, max=LARGEST_ID)]
Fingerprint = Annotated[str | None, typer.Option(help="Only this cause; see dead list --by-fingerprint.")]
Code = Annotated[str | None, typer.Option("--code", help="Only this error code.")]
Why = Annotated[Reason | None, typer.Option("--reason", help="Only those that died of this.")]
Everything = Annotated[bool, typer.Option("--all", help="All dead letters there are now.")]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
AtMost = Annotated[int | None, typer.Option("--limit", min=1, help="Only this many, the oldest first.")]
ByFingerprint = Annotated[bool, typer.Option("--by-fingerprint", help="Count them by cause.")]

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
    """Dead letters, the newest first."""
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
    """One dead letter, whole: payload and every attempt's error."""

    async def call() -> dict[str, object]:
        async with operations() as calls:
            return await calls.show_dead(task_id)

    found = run(call())
    output.document(found) if as_json else output.write("\n".join(letter_lines(found)))


@group.command("replay")
def replay(
    task_ids: Ids = None,
    task_type: Type = None,
    fingerprint: Fingerprint = None,
    code: Code = None,
    reason: Why = None,
    everything: Everything = False,
    limit: AtMost = None,
    yes: Yes = False,
    as_json: output.AsJson = False,
) -> None:
    """Give dead letters a new life with all their attempts; says how many first, and asks."""
    chosen = _chosen(task_ids, task_type, fingerprint, code, reason, everything)

    async def call() -> int:
        async with operations() as calls:
            # What dies again while we replay is not meant.
            meant = replace(chosen, died_before=await calls.clock())
            count = await _agreed(calls, meant, "Replay", limit, yes=yes, quiet=as_json)
            done = 0
            with bar("replay", count) as progress:
                while done < count:
                    taken = len(await calls.replay(meant, min(BATCH, count - done)))
                    if not taken:
                        break
                    progress(done := done + taken)
            return done

    replayed = run(call())
    said = f"Replayed {output.count(replayed, 'dead letter')}."
    output.document({"replayed": replayed}) if as_json else output.write(said)


@group.command("purge")
def purge(
    task_ids: Ids = None,
    task_type: Type = None,
    fingerprint: Fingerprint = None,
    code: Code = None,
    reason: Why = None,
    everything: Everything = False,
    yes: Yes = False,
    as_json: output.AsJson = False,
) -> None:
    """Delete dead letters for good; says how many first, and asks."""
    chosen = _chosen(task_ids, task_type, fingerprint, code, reason, everything)

    async def call() -> int:
        async with operations() as calls:
            meant = replace(chosen, died_before=await calls.clock())
            await _agreed(calls, meant, "Delete", None, yes=yes, quiet=as_json)
            return await calls.purge_dead(meant)

    purged = run(call())
    said = f"Deleted {output.count(purged, 'dead letter')}."
    output.document({"purged": purged}) if as_json else output.write(said)


def _chosen(
    task_ids: list[int] | None,
    task_type: str | None,
    fingerprint: str | None,
    code: str | None,
    reason: Reason | None,
    everything: bool,
) -> DeadFilter:
    chosen = DeadFilter(tuple(task_ids or ()), task_type, fingerprint, code, reason)
    if everything != (chosen == DeadFilter()):
        raise typer.BadParameter("give ids, a filter, or --all, and --all alone", param_hint="ID…")
    return chosen


async def _agreed(
    calls: Operations, meant: DeadFilter, verb: str, limit: int | None, *, yes: bool, quiet: bool
) -> int:
    """How many it is about, once whoever asked for it has agreed."""
    count = await calls.count_dead(meant)
    if count == 0:
        raise TaskNotFound("no dead letter matches", "filter", "penstock dead list shows what there is")
    count = count if limit is None else min(count, limit)
    question = f"{verb} {output.count(count, 'dead letter')}?"
    if yes:
        return count
    if quiet or not sys.stdin.isatty():
        raise InvalidArgument(f"{question} Nobody is there to ask", "yes", "Add --yes to do it")
    if not typer.confirm(question, err=True):
        raise InvalidArgument("nothing was done", "yes", "Answer y, or add --yes")
    return count
