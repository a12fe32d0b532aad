"""Inlets over HTTP: what they count and refuse, and pausing them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.acting import operating
from penstock.api.guarded import GuardedRoute
from penstock.api.looking import InstallationOperator, Watcher, looking
from penstock.api.parameters import NamePart, States
from penstock.inlets.operations import InletFigures, InletOperations, Refusal
from penstock.queue.looks import Looks

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/inlets")

InletName = Annotated[str, Path(alias="name", max_length=200, description="The inlet's name.")]


class InletList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[InletFigures]


class InletDetail(BaseModel):
    model_config = ConfigDict(frozen=True)

    inlet: InletFigures
    refusals: Sequence[Refusal]


@router.get("", operation_id="listInlets")
async def inlets(request: Request, caller: Watcher, state: States = None, q: NamePart = None) -> InletList:
    """List the inlets with what they counted and who reads them; a tenant sees its own.

    An inlet's state is `running`, `waiting` (nobody reads it), `failing` or `paused`.
    """
    async with looking(request) as connection:
        chosen = await Looks(connection).chosen("inlets", {"state": state, "q": q})
        found = await InletOperations(connection).list()
    return InletList(items=[each for each in found if chosen is None or each.name in chosen])


@router.get("/{name}", operation_id="showInlet")
async def show(request: Request, caller: Watcher, name: InletName) -> InletDetail:
    """One inlet, and the newest messages it refused with the reason."""
    async with looking(request) as connection:
        calls = InletOperations(connection)
        return InletDetail(inlet=await calls.show(name), refusals=await calls.refusals(name, 100))


@router.post("/{name}/pause", operation_id="pauseInlet")
async def pause(request: Request, caller: InstallationOperator, name: InletName) -> InletFigures:
    """Stop taking its messages in; they stay with their sender."""
    return await _set(request, caller.name, name, enabled=False)


@router.post("/{name}/resume", operation_id="resumeInlet")
async def resume(request: Request, caller: InstallationOperator, name: InletName) -> InletFigures:
    """Take its messages in again."""
    return await _set(request, caller.name, name, enabled=True)


async def _set(request: Request, by: str, name: str, *, enabled: bool) -> InletFigures:
    async with operating(request) as connection:
        calls = InletOperations(connection)
        await calls.set_enabled(name, enabled, by)
        return await calls.show(name)
