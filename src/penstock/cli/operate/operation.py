"""`penstock operation`: list, show and cancel operations on everything that matches a filter."""

from __future__ import annotations

import getpass
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated
from uuid import UUID

import typer

from penstock.cli import output
from penstock.cli.confirmation import DryRun, would
from penstock.cli.failures import warn
from penstock.cli.session import operator, run
from penstock.documents.bulk_operations import BulkOperation, BulkOperationPage, BulkOperations
from penstock.model.rows import plain

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

OperationId = Annotated[UUID, typer.Argument(metavar="OPERATION", help="The operation's id.")]
State = Annotated[
    str | None,
    typer.Option(help="Only these states, separated by commas: running, watching, done, stopped, failed."),
]
Cursor = Annotated[str | None, typer.Option(help="Continue after the page that returned this cursor.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Maximum number of operations to show.")]

LISTED = (
    "operation_id",
    "state",
    "action",
    "tenant",
    "total",
    "done",
    "skipped",
    "failed",
    "by",
    "started_at",
)


@group.command("list")
def list_operations(
    state: State = None, cursor: Cursor = None, limit: Limit = 50, as_json: output.AsJson = False
) -> None:
    """List operations of all tenants, newest first."""

    async def call() -> BulkOperationPage:
        async with _operations() as calls:
            return await calls.list(state=state, cursor=cursor, limit=limit)

    page = run(call())
    if as_json:
        output.document({"operations": [plain(each) for each in page.items], "cursor": page.cursor})
        return
    output.records(LISTED, page.items, empty="No operations.")
    if page.cursor is not None:
        warn(f"There are more: add --cursor {page.cursor}")


@group.command("show")
def show(operation: OperationId, as_json: output.AsJson = False) -> None:
    """Show an operation: its progress, what it skipped and why, and when it will end."""

    async def call() -> BulkOperation:
        async with _operations() as calls:
            return await calls.show(operation)

    _show(run(call()), as_json=as_json)


@group.command("cancel")
def cancel(operation: OperationId, dry_run: DryRun = False, as_json: output.AsJson = False) -> None:
    """Stop an operation; items it has not reached yet stay as they are."""

    async def call() -> BulkOperation:
        async with _operations() as calls:
            if dry_run:
                return await calls.show(operation)
            return await calls.cancel(operation, getpass.getuser())

    found = run(call())
    if not dry_run:
        _show(found, as_json=as_json)
        return
    ended = found.finished_at is not None
    left = 0 if ended else found.total - found.done - found.skipped - found.failed
    what = f"leave {output.count(left, 'item')} of {found.action} as they are"
    would(f"change nothing: it is {found.state}" if ended else what, as_json=as_json, count=left)


@asynccontextmanager
async def _operations() -> AsyncIterator[BulkOperations]:
    async with operator() as connection, connection.transaction():
        yield BulkOperations(connection, all_tenants=True)


def _show(found: BulkOperation, *, as_json: bool) -> None:
    if as_json:
        output.document(plain(found))
        return
    shown = plain(found, without={"skipped_reasons", "failed_reasons", "canary"})
    output.facts({name: value for name, value in shown.items() if value not in (None, {})})
    if found.canary is not None:
        output.write("\ncanary")
        output.facts(plain(found.canary))
    for title, reasons in (("skipped", found.skipped_reasons), ("failed", found.failed_reasons)):
        if reasons:
            output.write(f"\n{title}")
            output.records(("count", "reason"), reasons)
