"""Cron schedules over HTTP: list them, run one now, switch one off or on."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict

from penstock.api.acting import operating
from penstock.api.guarded import GuardedRoute
from penstock.api.json_values import Body
from penstock.api.looking import InstallationOperator, Watcher, looking
from penstock.api.parameters import NamePart, States
from penstock.api.tasks import TaskEnqueued
from penstock.errors import ScheduleNotFound
from penstock.queue.looks import Looks
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import ScheduleRow

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/schedules")

ScheduleName = Annotated[str, Path(alias="name", max_length=200, description="The schedule's name.")]


class ScheduleList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[ScheduleRow]


class ScheduleChange(Body):
    enabled: bool


@router.get("", operation_id="listSchedules")
async def schedules(
    request: Request, caller: Watcher, state: States = None, q: NamePart = None
) -> ScheduleList:
    """List the cron schedules with their next and last ticks; a schedule's state is `on` or `off`."""
    async with looking(request) as connection:
        chosen = await Looks(connection).chosen("schedules", {"state": state, "q": q})
        found = await Operations(connection).schedules()
    return ScheduleList(items=[each for each in found if chosen is None or each.schedule_name in chosen])


@router.post("/{name}/run", status_code=201, operation_id="runSchedule")
async def run(request: Request, caller: InstallationOperator, name: ScheduleName) -> TaskEnqueued:
    """Enqueue a schedule's task now, in addition to its ticks."""
    async with operating(request) as connection:
        return TaskEnqueued(task_id=await Operations(connection).run_schedule(name))


@router.patch("/{name}", operation_id="changeSchedule")
async def change(
    request: Request, caller: InstallationOperator, name: ScheduleName, body: ScheduleChange
) -> ScheduleRow:
    """Switch a schedule off or on; a tick that passed meanwhile fires once."""
    async with operating(request) as connection:
        operations = Operations(connection)
        await operations.set_schedule(name, body.enabled)
        for row in await operations.schedules():
            if row.schedule_name == name:
                return row
    raise ScheduleNotFound(f"there is no schedule {name!r}", "schedule")
