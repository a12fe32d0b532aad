"""Tasks over HTTP: list, show, reveal, cancel, run now, enqueue."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, Final

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, BeforeValidator, ConfigDict, Field

from penstock.accounts import Caller
from penstock.api.acting import acting
from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text, storable
from penstock.api.looking import Runner, Watcher, looking, slugs
from penstock.api.parameters import Cursor, Limit
from penstock.api.problem import HttpRefused
from penstock.engine.task_versions import with_versions
from penstock.observe.restored_payloads import restored
from penstock.queue.look_rows import TaskDetail, TaskPage
from penstock.queue.looks import Looks
from penstock.queue.operations import Operations

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/tasks")

OneTask = Annotated[int, Path(alias="task_id", ge=0, le=2**63 - 1, description="The task's id.")]
State = Annotated[
    str,
    Query(
        max_length=20,
        description="running, ready, waiting, parked, dead, or how it ended: completed, failed, lost,"
        " snoozed, cancelled, released, skipped, merged or replaced.",
    ),
]
Queue = Annotated[str | None, Query(max_length=63, description="Only tasks of this queue.")]
Type = Annotated[str | None, Query(max_length=127, description="Only tasks of this type.")]
CHANNELS: Final = frozenset({"db_function", "email", "sms", "file_delete"})
Payload = Annotated[dict[str, Any], BeforeValidator(storable)]


class RevealedPayload(BaseModel):
    model_config = ConfigDict(frozen=True)

    payload: Any


class TaskCancelled(BaseModel):
    """`cancelled`, `requested` (it runs and was asked to stop) or `ended` (it was already over)."""

    model_config = ConfigDict(frozen=True)

    outcome: str


class TaskRunNow(BaseModel):
    """Whether it was waiting and is due now."""

    model_config = ConfigDict(frozen=True)

    due: bool


class TaskEnqueued(BaseModel):
    model_config = ConfigDict(frozen=True)

    task_id: int


class TaskWanted(Body):
    task_type: Annotated[Text, Field(min_length=1, max_length=127)]
    payload: Payload = Field(default_factory=dict)
    queue: Annotated[Text, Field(max_length=63)] | None = None
    priority: Annotated[int, Field(ge=0, le=9)] | None = None
    scheduled_at: datetime | None = None


class TaskCopy(Body):
    payload: Payload | None = None
    """Another payload; null for the same one. Where it has what showTask shows instead of a secret, the
    secret of the task is kept."""


@router.get("", operation_id="listTasks")
async def tasks(
    request: Request,
    caller: Watcher,
    state: State = "running",
    queue: Queue = None,
    task_type: Type = None,
    cursor: Cursor = None,
    limit: Limit = 50,
) -> TaskPage:
    """List the tasks in one state: pending ones in their order, ended ones newest first."""
    async with looking(request) as connection:
        page = await Looks(connection).tasks(state, queue, task_type, cursor=cursor, limit=limit)
        known = await slugs(request, connection, (item.tenant_id for item in page.items))
    named = [
        replace(item, tenant=known.get(item.tenant_id)) if item.tenant_id else item for item in page.items
    ]
    return replace(page, items=named)


@router.post("", status_code=201, operation_id="enqueueTask")
async def enqueue(request: Request, caller: Runner, body: TaskWanted) -> TaskEnqueued:
    """Enqueue a task of a declared type."""
    _refuse_own_type(request, caller, body.task_type)
    async with acting(request) as connection:
        return TaskEnqueued(
            task_id=await Operations(connection).enqueue(
                body.task_type, body.payload, body.queue, body.priority, body.scheduled_at
            )
        )


@router.get("/{task_id}", operation_id="showTask")
async def task(request: Request, caller: Watcher, task_id: OneTask) -> TaskDetail:
    """Show one task with its attempts, and why it is where it is; secrets in its payload are left out."""
    async with looking(request) as connection:
        found = await with_versions(connection, await Looks(connection).task(task_id))
        known = await slugs(request, connection, (found.tenant_id,))
    return replace(found, tenant=known.get(found.tenant_id)) if found.tenant_id else found


@router.post("/{task_id}/reveal", operation_id="revealTask")
async def reveal(request: Request, caller: Runner, task_id: OneTask) -> RevealedPayload:
    """Show the whole payload of a task; this is written to the audit log."""
    async with acting(request) as connection:
        return RevealedPayload(payload=await Looks(connection).reveal(task_id, caller.name))


@router.post("/{task_id}/cancel", operation_id="cancelTask")
async def cancel(request: Request, caller: Runner, task_id: OneTask) -> TaskCancelled:
    """Cancel a task that waits, or ask one that runs to stop."""
    async with acting(request) as connection:
        outcome = await Operations(connection).cancel_task(task_id, f"cancelled by {caller.name}")
    return TaskCancelled(outcome=outcome)


@router.post("/{task_id}/run-now", operation_id="runTaskNow")
async def run_now(request: Request, caller: Runner, task_id: OneTask) -> TaskRunNow:
    """Make a task due that is delayed, snoozed or between attempts."""
    async with acting(request) as connection:
        operations = Operations(connection)
        due = await operations.run_now(task_id)
        if not due:
            await operations.show_task(task_id)  # one that does not exist is an error
    return TaskRunNow(due=due)


@router.post("/{task_id}/again", status_code=201, operation_id="repeatTask")
async def again(
    request: Request, caller: Runner, task_id: OneTask, body: TaskCopy | None = None
) -> TaskEnqueued:
    """Enqueue a copy of a task, due now, with the same payload or another one.

    A value `[redacted]` in the payload stands for the task's own value at the same path; 422 if it has none.
    """
    payload = None if body is None else body.payload
    async with acting(request) as connection:
        if payload is not None:
            known = await Operations(connection).show_task(task_id)
            _refuse_own_type(request, caller, str(known["task_type"]))
            payload = restored(payload, known["payload"])
        return TaskEnqueued(task_id=await Looks(connection).repeat(task_id, payload, caller.name))


def _refuse_own_type(request: Request, caller: Caller, task_type: str) -> None:
    """Penstock's own tasks trust their payload; only somebody who runs the installation may write one."""
    own = engine_of(request).tasks.registry.types
    if not caller.is_installation and (task_type in own or task_type in CHANNELS):
        raise HttpRefused(
            "forbidden",
            f"{task_type} is a task of Penstock itself, and only an operator of the installation may"
            " choose its payload",
            "Use a task type of your own, or sign in to the installation: penstock login",
            field="task_type",
        )
