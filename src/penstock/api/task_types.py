"""Task types over HTTP: what can be enqueued, with the schema of each payload."""

from __future__ import annotations

from collections.abc import Sequence

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.guarded import GuardedRoute
from penstock.api.looking import Watcher, looking
from penstock.queue.look_rows import TaskTypeItem
from penstock.queue.looks import Looks

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/task-types")


class TaskTypeList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[TaskTypeItem]


@router.get("", operation_id="listTaskTypes")
async def task_types(request: Request, caller: Watcher) -> TaskTypeList:
    """List the declared task types with the JSON schema of their payloads."""
    async with looking(request) as connection:
        return TaskTypeList(items=await Looks(connection).task_types())
