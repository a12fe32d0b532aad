"""`penstock operation`: start, list, show and cancel operations on everything that matches a filter."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Annotated, Final, get_args
from uuid import UUID

import typer

from penstock.accounts.rows import Tenant
from penstock.cli import completion, output
from penstock.cli.auditing import audited, over, user
from penstock.cli.confirmation import DryRun, Yes, confirm, would
from penstock.cli.exit_codes import Exit
from penstock.cli.failures import warn
from penstock.cli.progress import phases
from penstock.cli.session import operator, run
from penstock.db import Connection
from penstock.db.pause import pause
from penstock.documents.bulk_operations import (
    BulkAction,
    BulkOperation,
    BulkOperationPage,
    BulkOperations,
    BulkPreview,
)
from penstock.errors import InvalidArgument
from penstock.model.rows import plain, row_from_json

group = typer.Typer(no_args_is_help=True, rich_markup_mode=None)

OperationId = Annotated[UUID, typer.Argument(metavar="OPERATION", help="The operation's id.")]
State = Annotated[
    str | None,
    typer.Option(help="Only these states, separated by commas: running, watching, done, stopped, failed."),
]
Cursor = Annotated[str | None, typer.Option(help="Continue after the page that returned this cursor.")]
Limit = Annotated[int, typer.Option(min=1, max=500, help="Maximum number of operations to show.")]

Wait = Annotated[
    bool,
    typer.Option(
        "--wait", help="Wait until the operation has ended; exit with 1 if it did not succeed for all."
    ),
]
LOOK_SECONDS: Final = 0.5

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


def _actions(incomplete: str) -> list[str]:
    return [each for each in get_args(BulkAction) if each.startswith(incomplete)]


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


@group.command("start")
def start(
    action: Annotated[
        str, typer.Argument(metavar="ACTION", help="Such as documents.retry.", autocompletion=_actions)
    ],
    chosen: Annotated[
        list[str] | None,
        typer.Argument(metavar="KEY=VALUE", help="The filter, such as status=failed; none: all."),
    ] = None,
    tenant: Annotated[
        str | None, typer.Option(help="Act on this tenant's.", autocompletion=completion.tenants)
    ] = None,
    canary: Annotated[
        int | None, typer.Option(min=1, max=50, help="Try this many per cent first; go on if they succeed.")
    ] = None,
    wait: Wait = False,
    yes: Yes = False,
    dry_run: DryRun = False,
    as_json: output.AsJson = False,
) -> None:
    """Act on everything that matches a filter.

    It names the number and asks first; the operation then runs in the background.
    """
    given = _pairs(chosen or [])

    async def count() -> BulkPreview:
        async with _operations(tenant) as calls:
            return await calls.preview(action, given)

    counted = run(count())
    for left_out in counted.skipped:
        warn(f"{left_out.count} will be skipped: {left_out.reason}")
    about = "about " if counted.approximate else ""
    what = f"{action} on {about}{output.count(counted.count, 'item')}"
    if dry_run:
        would(f"start {what}", as_json=as_json, count=counted.count)
        return
    if counted.count == 0:
        raise InvalidArgument("nothing matches the filter", "filter", "Look at the list for what there is")
    confirm(f"start {what}", yes=yes, as_json=as_json)

    async def call() -> BulkOperation:
        async with operator() as connection:
            owner = None if tenant is None else await _tenant(connection, tenant)

            def opened() -> AbstractAsyncContextManager[Connection]:
                return _transaction(connection, tenant)

            async with audited(opened, "operation start", action, tenant=owner) as facts:
                async with opened() as conn:
                    started = await BulkOperations(conn, all_tenants=tenant is None).start(
                        action, given, expected_count=counted.count, by=user(), canary_percent=canary
                    )
                facts.update(operation_id=str(started.operation_id), filter=given, count=counted.count)
            return await _ended(connection, started) if wait else started

    _show(run(call()), as_json=as_json, waited=wait)


@group.command("show")
def show(operation: OperationId, wait: Wait = False, as_json: output.AsJson = False) -> None:
    """Show an operation: progress, skipped items, end.

    With the reasons for what was skipped, and when it will end.
    """

    async def call() -> BulkOperation:
        async with operator() as connection:
            found = await BulkOperations(connection, all_tenants=True).show(operation)
            return await _ended(connection, found) if wait else found

    _show(run(call()), as_json=as_json, waited=wait)


@group.command("cancel")
def cancel(operation: OperationId, dry_run: DryRun = False, as_json: output.AsJson = False) -> None:
    """Stop an operation; items it has not reached yet stay as they are."""

    async def call() -> BulkOperation:
        if dry_run:
            async with _operations() as calls:
                return await calls.show(operation)
        async with (
            operator() as connection,
            audited(over(connection), "operation cancel", str(operation)),
            connection.transaction(),
        ):
            return await BulkOperations(connection, all_tenants=True).cancel(operation, user())

    found = run(call())
    if not dry_run:
        _show(found, as_json=as_json)
        return
    ended = found.finished_at is not None
    left = 0 if ended else found.total - found.done - found.skipped - found.failed
    what = f"leave {output.count(left, 'item')} of {found.action} as they are"
    would(f"change nothing: it is {found.state}" if ended else what, as_json=as_json, count=left)


@asynccontextmanager
async def _operations(tenant: str | None = None) -> AsyncIterator[BulkOperations]:
    """As an operator; of a tenant, in a transaction of that tenant."""
    async with operator() as connection, _transaction(connection, tenant):
        yield BulkOperations(connection, all_tenants=tenant is None)


@asynccontextmanager
async def _transaction(connection: Connection, tenant: str | None) -> AsyncIterator[Connection]:
    async with connection.transaction():
        if tenant is not None:
            await connection.execute(completion.BE_TENANT, tenant)
        yield connection


async def _tenant(connection: Connection, slug: str) -> Tenant:
    return row_from_json(Tenant, await connection.fetchval("select all_tenants.find_tenant($1)", slug))


async def _ended(connection: Connection, operation: BulkOperation) -> BulkOperation:
    """Follow an operation to its end, with a progress bar on a terminal."""
    calls = BulkOperations(connection, all_tenants=True)
    found = operation
    with phases() as draw:
        while found.finished_at is None:
            draw(found.action, found.done + found.skipped + found.failed, found.total)
            await pause(LOOK_SECONDS)
            found = await calls.show(operation.operation_id)
    return found


def _pairs(words: list[str]) -> dict[str, object]:
    pairs: dict[str, object] = {}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or not key or not value:
            raise typer.BadParameter(f"{word!r} is not KEY=VALUE", param_hint="KEY=VALUE")
        pairs[key] = value.split(",") if key == "ids" else value
    return pairs


def _show(found: BulkOperation, *, as_json: bool, waited: bool = False) -> None:
    if as_json:
        output.document(plain(found))
    else:
        _write(found)
    if waited and (found.state != "done" or found.failed):
        raise typer.Exit(Exit.REFUSED)


def _write(found: BulkOperation) -> None:
    shown = plain(found, without={"skipped_reasons", "failed_reasons", "canary"})
    output.facts({name: value for name, value in shown.items() if value not in (None, {})})
    if found.canary is not None:
        output.write("\ncanary")
        output.facts(plain(found.canary))
    for title, reasons in (("skipped", found.skipped_reasons), ("failed", found.failed_reasons)):
        if reasons:
            output.write(f"\n{title}")
            output.records(("count", "reason"), reasons)
