"""Queues over HTTP: figures and history, pause and resume, limits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Path, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.api.acting import operating
from penstock.api.guarded import GuardedRoute
from penstock.api.json_values import Body, Text
from penstock.api.looking import InstallationOperator, Watcher, looking
from penstock.api.parameters import NamePart, States
from penstock.queue.look_rows import QueueDetail, QueueFigures
from penstock.queue.looks import Looks
from penstock.queue.operations import Operations
from penstock.queue.operator_rows import Limit

router = APIRouter(route_class=GuardedRoute, tags=["Queues"], prefix="/v1/queues")

QueueName = Annotated[str, Path(alias="queue", max_length=63, description="The queue's name.")]
Hours = Annotated[int, Query(ge=1, le=168, description="How many hours the history goes back.")]
Positive = Annotated[int | None, Field(ge=1, le=2_147_483_647)]


class QueueList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[QueueFigures]


class LimitsWanted(Body):
    """All limits of one scope; null is no limit."""

    scope: Literal["queue", "each_key", "key"] = "queue"
    key: Annotated[Text, Field(min_length=1, max_length=1_000)] | None = None
    """The limit key, with the scope `key` only."""
    max_running: Positive = None
    rate_count: Positive = None
    rate_period_seconds: Annotated[float, Field(gt=0, le=31_622_400)] | None = None
    rate_burst: Positive = None


@router.get("", operation_id="listQueues")
async def queues(request: Request, caller: Watcher, state: States = None, q: NamePart = None) -> QueueList:
    """List the queues with their depths, speed and workers; a tenant sees counts of its own tasks.

    A queue's state is `running` or `paused`.
    """
    async with looking(request) as connection:
        looks = Looks(connection)
        chosen = await looks.chosen("queues", {"state": state, "q": q})
        found = await looks.queues()
    return QueueList(items=[each for each in found if chosen is None or each.queue in chosen])


@router.get("/{queue}", operation_id="showQueue")
async def queue(request: Request, caller: Watcher, queue: QueueName, hours: Hours = 1) -> QueueDetail:
    """Show one queue with its limits and history.

    One hour is shown by the minute, up to 24 by ten minutes, up to 168 by the hour.
    """
    async with looking(request) as connection:
        return await Looks(connection).queue(queue, hours)


@router.post("/{queue}/pause", operation_id="pauseQueue")
async def pause(request: Request, caller: InstallationOperator, queue: QueueName) -> QueueDetail:
    """Stop workers from taking tasks of a queue; running tasks continue."""
    async with operating(request) as connection:
        await Operations(connection).pause(queue, by=caller.name)
        return await Looks(connection).queue(queue)


@router.post("/{queue}/resume", operation_id="resumeQueue")
async def resume(request: Request, caller: InstallationOperator, queue: QueueName) -> QueueDetail:
    """Let workers take tasks of a paused queue again."""
    async with operating(request) as connection:
        await Operations(connection).resume(queue)
        return await Looks(connection).queue(queue)


@router.put("/{queue}/limits", operation_id="limitQueue")
async def limit(
    request: Request, caller: InstallationOperator, queue: QueueName, body: LimitsWanted
) -> QueueDetail:
    """Set all limits of a queue, of each of its keys, or of one key."""
    wanted = Limit(queue, **body.model_dump(exclude={"key"}))
    async with operating(request) as connection:
        await Operations(connection).put_limits(wanted, body.key)
        return await Looks(connection).queue(queue)
