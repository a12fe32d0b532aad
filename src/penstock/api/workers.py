"""Workers over HTTP: who is alive, silent, lost or stopped, and which versions they run."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.guarded import GuardedRoute
from penstock.api.looking import Watcher, looking
from penstock.queue.look_rows import WorkerItem
from penstock.queue.looks import Looks

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/workers")


class WorkerList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[WorkerItem]


@router.get("", operation_id="listWorkers")
async def workers(request: Request, caller: Watcher) -> WorkerList:
    """List the workers of the last day with what they hold; a tenant sees the number of its own tasks."""
    async with looking(request) as connection:
        return WorkerList(items=await Looks(connection).workers())
