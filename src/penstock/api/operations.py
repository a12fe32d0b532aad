"""Operations on everything that matches a filter, over HTTP: count, start, follow, stop."""

from __future__ import annotations

from typing import Annotated, Literal
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import Field

from penstock.accounts import Caller
from penstock.api.acting import acting
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import Needs
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Cursor, Limit
from penstock.db import Connection
from penstock.documents.bulk_operations import (
    BulkAction,
    BulkItemPage,
    BulkOperation,
    BulkOperationPage,
    BulkOperations,
    BulkPreview,
)

router = APIRouter(route_class=GuardedRoute, tags=["Operations"], prefix="/v1/operations")

Looking = Annotated[Caller, Depends(Needs("documents:read", installation=True))]
Acting = Annotated[Caller, Depends(Needs("operate", installation=True))]
OneOperation = Annotated[UUID, Path(alias="operation_id", description="The operation's id.")]
Id = Annotated[Text, Field(max_length=64)] | int
FilterValue = Annotated[Text, Field(max_length=2_000)] | Annotated[list[Id], Field(max_length=10_000)] | None


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
    async with acting(request) as conn:
        return await _over(conn, caller).preview(body.action, body.filter)


@router.post("", status_code=202, operation_id="startOperation")
async def start(request: Request, caller: Acting, body: OperationWanted) -> BulkOperation:
    """Act on all items that match the filter now; refused if they are not about as many as expected."""
    async with acting(request) as conn:
        return await _over(conn, caller).start(
            body.action,
            body.filter,
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
    async with acting(request) as conn:
        return await _over(conn, caller).list(state=state, cursor=cursor, limit=limit)


@router.get("/{operation_id}", operation_id="showOperation")
async def operation(request: Request, caller: Looking, operation_id: OneOperation) -> BulkOperation:
    """Show an operation: its progress, what it skipped and why, and when it will end."""
    async with acting(request) as conn:
        return await _over(conn, caller).show(operation_id)


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
    async with acting(request) as conn:
        return await _over(conn, caller).items(operation_id, outcome=outcome, cursor=cursor, limit=limit)


@router.post("/{operation_id}/cancel", operation_id="cancelOperation")
async def cancel(request: Request, caller: Acting, operation_id: OneOperation) -> BulkOperation:
    """Stop an operation; items it has not reached yet stay as they are."""
    async with acting(request) as conn:
        return await _over(conn, caller).cancel(operation_id, caller.decider)


def _over(connection: Connection, caller: Caller) -> BulkOperations:
    return BulkOperations(connection, all_tenants=caller.tenant is None)
