"""Workers over HTTP: who is alive, silent, lost or stopped, and which versions they run; stop one."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.acting import operating
from penstock.api.guarded import GuardedRoute
from penstock.api.looking import InstallationOperator, Watcher, looking
from penstock.api.parameters import NamePart, States
from penstock.queue.look_rows import WorkerItem
from penstock.queue.looks import Looks
from penstock.queue.operations import Operations

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/workers")


class WorkerList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[WorkerItem]


class WorkerAsked(BaseModel):
    model_config = ConfigDict(frozen=True)

    worker_id: int
    asked: bool


@router.get("", operation_id="listWorkers")
async def workers(
    request: Request,
    caller: Watcher,
    state: States = None,
    queue: Annotated[
        str | None, Query(max_length=63, description="Only those that serve this queue.")
    ] = None,
    q: NamePart = None,
) -> WorkerList:
    """List the workers of the last day with what they hold; a tenant sees the number of its own tasks."""
    async with looking(request) as connection:
        looks = Looks(connection)
        chosen = await looks.chosen("workers", {"state": state, "queue": queue, "q": q})
        found = await looks.workers()
    return WorkerList(items=[each for each in found if chosen is None or str(each.worker_id) in chosen])


@router.post("/{worker_id}/stop", status_code=202, operation_id="stopWorker")
async def stop(
    request: Request,
    caller: InstallationOperator,
    worker_id: Annotated[int, Path(ge=1, le=2**31 - 1, description="The worker's id.")],
) -> WorkerAsked:
    """Ask a worker to stop: it finishes or hands back what it holds, as after SIGTERM, and exits.

    Whatever keeps it running (systemd, Kubernetes, `penstock up`) starts a new one. `asked` is false if it
    has ended or was asked before.
    """
    async with operating(request) as connection:
        asked = await Operations(connection).stop_worker(worker_id, by=caller.name)
    return WorkerAsked(worker_id=worker_id, asked=asked)
