"""Saved views: a page's filters under a name, shared by the team."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Depends, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.accounts import Caller
from penstock.accounts.saved_views import SavedView, SavedViews
from penstock.api.acting import acting
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import Needs
from penstock.api.json_values import Body, Text
from penstock.db import Connection

router = APIRouter(route_class=GuardedRoute, tags=["Operations"], prefix="/v1/views")

Looking = Annotated[Caller, Depends(Needs("documents:read", installation=True))]
Saving = Annotated[Caller, Depends(Needs("operate", installation=True))]
OneView = Annotated[UUID, Path(alias="view_id", description="The view's id.")]
PageName = Annotated[Text, Field(min_length=1, max_length=100)]
ViewName = Annotated[Text, Field(min_length=1, max_length=100, pattern=r"\S")]
QueryString = Annotated[Text, Field(max_length=2_000)]


class ViewList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[SavedView]


class ViewWanted(Body):
    page: PageName
    name: ViewName
    query: QueryString


class ViewChange(Body):
    """What is not given stays as it is."""

    name: ViewName | None = None
    query: QueryString | None = None


@router.get("", operation_id="listViews")
async def views(
    request: Request,
    caller: Looking,
    page: Annotated[str | None, Query(max_length=100, description="Only views of this page.")] = None,
) -> ViewList:
    """List the team's saved views by name."""
    async with acting(request) as conn:
        return ViewList(items=await _over(conn, caller).list(page))


@router.post("", status_code=201, operation_id="createView")
async def create(request: Request, caller: Saving, body: ViewWanted) -> SavedView:
    """Save a page's query string under a name, for everybody in the team."""
    async with acting(request) as conn:
        return await _over(conn, caller).create(body.page, body.name, body.query, caller.decider)


@router.patch("/{view_id}", operation_id="changeView")
async def change(request: Request, caller: Saving, view_id: OneView, body: ViewChange) -> SavedView:
    """Rename a view or give it another query string."""
    async with acting(request) as conn:
        return await _over(conn, caller).change(view_id, name=body.name, query=body.query)


@router.delete("/{view_id}", status_code=204, operation_id="deleteView")
async def delete(request: Request, caller: Saving, view_id: OneView) -> None:
    """Delete a view for everybody."""
    async with acting(request) as conn:
        await _over(conn, caller).delete(view_id)


def _over(connection: Connection, caller: Caller) -> SavedViews:
    return SavedViews(connection, all_tenants=caller.tenant is None)
