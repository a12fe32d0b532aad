"""Operations on everything that matches a filter, over HTTP: count, start, follow, stop."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Annotated, Any, Final, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field

from penstock.accounts import Caller, Scope
from penstock.api.acting import acting, operating
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import Needs, caller_of, refuse_without
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Cursor, Limit
from penstock.documents.bulk_operations import (
    SHARED,
    BulkAction,
    BulkItemPage,
    BulkOperation,
    BulkOperationPage,
    BulkOperations,
    BulkPreview,
)
from penstock.errors import InvalidArgument

router = APIRouter(route_class=GuardedRoute, tags=["Operations"], prefix="/v1/operations")

Looking = Annotated[Caller, Depends(Needs("documents:read", installation=True))]
Acting = Annotated[Caller, Depends(Needs("operate", installation=True))]
OneOperation = Annotated[UUID, Path(alias="operation_id", description="The operation's id.")]
NEEDED: Final[dict[str, Scope]] = {
    "clients.delete": "documents:write",
    "keys.revoke": "admin",
    "sessions.end": "admin",
}
"""The scope of the call that does an action to one item, where `operate` does not suffice."""
Id = Annotated[Text, Field(max_length=64)] | int
_LONGEST: Final = 2_000
_LONGEST_OF: Final = {"fingerprint": 7_000}
"""Characters in the value of a filter: the 500 causes of a list of failures fit into one."""
FilterValue = (
    Annotated[Text, Field(json_schema_extra={"maxLength": max(_LONGEST_OF.values())})]
    | Annotated[list[Id], Field(max_length=10_000)]
    | None
)


class OperationTarget(Body):
    """What to do, and to which items: a filter with the keys of the list's query, or `ids`."""

    action: BulkAction
    filter: Annotated[dict[str, FilterValue], Field(default_factory=dict, max_length=20)]


class OperationWanted(OperationTarget):
    """The same, with the number of items the person saw, and how many per cent go first as a canary."""

    expected_count: Annotated[int, Field(ge=1, le=1_000_000_000)]
    canary_percent: Annotated[int, Field(ge=1, le=50)] | None = None


@router.post("/preview", operation_id="previewOperation")
async def preview(request: Request, caller: Looking, body: OperationTarget) -> BulkPreview:
    """Count the items an operation would act on, and those it would leave out; nothing happens."""
    async with _calls(request, body.action) as calls:
        return await calls.preview(body.action, _filter(caller, body))


@router.post("", status_code=202, operation_id="startOperation")
async def start(request: Request, caller: Acting, body: OperationWanted) -> BulkOperation:
    """Act on all items that match the filter now; refused if they are not about as many as expected."""
    async with _calls(request, body.action) as calls:
        return await calls.start(
            body.action,
            _filter(caller, body),
            expected_count=body.expected_count,
            by=caller.decider,
            canary_percent=body.canary_percent,
        )


@router.get("", operation_id="listOperations")
async def operations(
    request: Request,
    caller: Looking,
    state: Annotated[
        str | None,
        Query(max_length=100, pattern="^[a-z,]+$", description="One or more states, separated by commas."),
    ] = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> BulkOperationPage:
    """List operations, newest first; they are kept for 30 days."""
    async with _calls(request) as calls:
        return await calls.list(state=state, cursor=cursor, limit=limit)


@router.get("/{operation_id}", operation_id="showOperation")
async def operation(request: Request, caller: Looking, operation_id: OneOperation) -> BulkOperation:
    """Show an operation: its progress, what it skipped and why, and when it will end."""
    async with _of(request) as calls:
        return await calls.show(operation_id)


@router.get("/{operation_id}/items", operation_id="listOperationItems")
async def items(
    request: Request,
    caller: Looking,
    operation_id: OneOperation,
    outcome: Literal["done", "skipped", "failed"] | None = None,
    cursor: Cursor = None,
    limit: Limit = 100,
) -> BulkItemPage:
    """List the items of an operation and what happened to each."""
    async with _of(request) as calls:
        return await calls.items(operation_id, outcome=outcome, cursor=cursor, limit=limit)


@router.post("/{operation_id}/cancel", operation_id="cancelOperation")
async def cancel(request: Request, caller: Acting, operation_id: OneOperation) -> BulkOperation:
    """Stop an operation; items it has not reached yet stay as they are."""
    async with _of(request) as calls:
        return await calls.cancel(operation_id, caller.decider)


@asynccontextmanager
async def _calls(request: Request, action: str = "") -> AsyncIterator[BulkOperations]:
    """As the caller's tenant; as an operator for what all tenants share, and for who names no tenant."""
    caller = caller_of(request)
    refuse_without(caller, NEEDED.get(action))
    if caller.is_installation and action.startswith(SHARED):
        async with operating(request) as conn:
            yield BulkOperations(conn, all_tenants=True)
    else:
        async with acting(request) as conn:
            yield BulkOperations(conn, all_tenants=caller.tenant is None)


@asynccontextmanager
async def _of(request: Request) -> AsyncIterator[BulkOperations]:
    """The transaction that sees an operation: somebody signed in to the installation sees those of every
    tenant, and those on what all tenants share, whatever tenant they look at."""
    if caller_of(request).is_installation:
        async with operating(request) as conn:
            yield BulkOperations(conn, all_tenants=True)
    else:
        async with acting(request) as conn:
            yield BulkOperations(conn)


def _filter(caller: Caller, body: OperationTarget) -> dict[str, Any]:
    """Nobody locks themselves out: the caller's own key or session is left out, and said so."""
    for name, value in body.filter.items():
        longest = _LONGEST_OF.get(name, _LONGEST)
        if isinstance(value, str) and len(value) > longest:
            raise InvalidArgument(
                f"the filter {name[:80]!r} has {len(value):,} characters; at most {longest:,} characters fit",
                f"filter.{name[:80]}",
                "Name fewer values, or act in several operations",
            )
    chosen: dict[str, Any] = dict(body.filter)
    chosen.pop("own", None)
    own = {"keys.revoke": caller.key_id, "sessions.end": caller.session_id}.get(body.action)
    return chosen if own is None else {**chosen, "own": str(own)}
