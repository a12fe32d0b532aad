"""Supervised processes over HTTP: list, show, start a failed one again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.acting import acting
from penstock.api.guarded import GuardedRoute
from penstock.api.looking import Runner, Watcher, looking
from penstock.api.parameters import Limit
from penstock.processes.operation_rows import ProcessOrder, ProcessRow, ProcessState, ShownProcess
from penstock.processes.operations import ProcessOperations

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/processes")

State = Annotated[ProcessState | None, Query(description="Only processes in this state.")]
Kind = Annotated[str | None, Query(max_length=127, description="Only this process, such as send_email.")]
Order = Annotated[
    ProcessOrder, Query(description="By start: `-created` newest first, `created` oldest first.")
]
After = Annotated[str | None, Query(max_length=4_000, description="The `cursor` of the previous page.")]
ProcessName = Annotated[str, Path(max_length=127, description="The process, such as comms.send_email.")]
RootId = Annotated[int, Path(ge=0, le=2**63 - 1, description="The number behind the slash of its id.")]


class ProcessList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[ProcessRow]
    cursor: str | None


@router.get("", operation_id="listProcesses")
async def processes(
    request: Request,
    caller: Watcher,
    state: State = None,
    process: Kind = None,
    sort: Order = "-created",
    cursor: After = None,
    limit: Limit = 50,
) -> ProcessList:
    """List supervised processes, newest first."""
    async with looking(request) as connection:
        rows, after = await ProcessOperations(connection).page(process, state, cursor, limit, sort)
    return ProcessList(items=rows, cursor=after)


@router.get("/{process}/{root_id}", operation_id="showProcess")
async def show(request: Request, caller: Watcher, process: ProcessName, root_id: RootId) -> ShownProcess:
    """Show one process with its attempts and its next check."""
    async with looking(request) as connection:
        return await ProcessOperations(connection).show(process, root_id)


@router.post("/{process}/{root_id}/retry", operation_id="retryProcess")
async def retry(request: Request, caller: Runner, process: ProcessName, root_id: RootId) -> ShownProcess:
    """Start a failed process again; earlier failures no longer count."""
    async with acting(request) as connection:
        operations = ProcessOperations(connection)
        await operations.restart(process, root_id)
        return await operations.show(process, root_id)
