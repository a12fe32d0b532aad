"""Failures over HTTP: dead letters and failed documents, in groups of the same error."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.guarded import GuardedRoute
from penstock.api.looking import Watcher, looking
from penstock.api.parameters import Cursor, Limit
from penstock.engine.failures import FailureGroup, FailureGroupDetail, FailureKind, Failures

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/failures")

Kind = Annotated[FailureKind | None, Query(description="Only dead letters or only documents.")]
Type = Annotated[str | None, Query(max_length=127, description="Only dead letters of this task type.")]
Wanted = Annotated[str | None, Query(max_length=200, description="Text in the title, code or message.")]
GroupId = Annotated[str, Path(max_length=80, description="The group's id.")]


class FailureGroupList(BaseModel):
    """`truncated`: there are more, and only the 500 newest of each kind are here. `partial`: there are more
    than 5,000 of a kind, and a newer one may be missing."""

    model_config = ConfigDict(frozen=True)

    items: Sequence[FailureGroup]
    truncated: bool
    partial: bool


@router.get("", operation_id="listFailures")
async def failures(
    request: Request, caller: Watcher, kind: Kind = None, task_type: Type = None, q: Wanted = None
) -> FailureGroupList:
    """List dead letters and failed documents in groups of the same error, the latest first.

    At most the 500 newest groups of each kind.
    """
    async with looking(request) as connection:
        found = await Failures(connection).groups(kind, task_type, q)
    return FailureGroupList(items=found.groups, truncated=found.truncated, partial=found.partial)


@router.get("/{group_id}", operation_id="showFailure")
async def failure(
    request: Request, caller: Watcher, group_id: GroupId, cursor: Cursor = None, limit: Limit = 50
) -> FailureGroupDetail:
    """Show a group of failures with a page of its members, newest first."""
    async with looking(request) as connection:
        return await Failures(connection).group(group_id, cursor, limit)
