"""Connected sources over HTTP: show one, sync it now, choose how often, change its settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Annotated, Any
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import BaseModel, ConfigDict, Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body
from penstock.api.parameters import Admin, Operator, Reader
from penstock.model import SourceId
from penstock.sources.sources import Source, SourceDetails

router = APIRouter(route_class=GuardedRoute, tags=["Sources"], prefix="/v1")

OneSource = Annotated[UUID, Path(alias="source_id", description="The source's id.")]


class SyncWanted(Body):
    full: bool = False


class SyncAsked(BaseModel):
    model_config = ConfigDict(frozen=True)

    source_id: UUID
    task_id: int


class ScheduleWanted(Body):
    sync_every_seconds: Annotated[int | None, Field(ge=60, le=31_536_000)]
    """None: only when asked. A day (86400) means every night."""


class ConfigChanges(Body):
    changes: dict[str, Any]
    """Settings by name; null goes back to the default."""


@router.get("/sources/{source_id}", operation_id="showSource")
async def show_source(request: Request, caller: Reader, source_id: OneSource) -> SourceDetails:
    """Show a source: its health, its streams and its last syncs, newest first."""
    return await engine_of(request).sources.show(caller.tenant_id, SourceId(source_id))


@router.post("/sources/{source_id}/sync", status_code=202, operation_id="syncSource")
async def sync_source(
    request: Request, caller: Operator, source_id: OneSource, body: SyncWanted | None = None
) -> SyncAsked:
    """Ask for a sync; many requests cause one. `full` reads everything again, not only changes."""
    full = (body or SyncWanted()).full
    task_id = await engine_of(request).sources.sync(caller.tenant_id, SourceId(source_id), full=full)
    return SyncAsked(source_id=source_id, task_id=task_id)


@router.put("/sources/{source_id}/schedule", operation_id="scheduleSource")
async def schedule_source(
    request: Request, caller: Admin, source_id: OneSource, body: ScheduleWanted
) -> Source:
    """Choose how often a source is synced."""
    every = None if body.sync_every_seconds is None else timedelta(seconds=body.sync_every_seconds)
    return await engine_of(request).sources.schedule(caller.tenant_id, SourceId(source_id), every)


@router.put("/sources/{source_id}/config", operation_id="configureSource")
async def configure_source(
    request: Request, caller: Admin, source_id: OneSource, body: ConfigChanges
) -> SourceDetails:
    """Change settings of a source, such as the folders of a mailbox, from the next sync on."""
    return await engine_of(request).sources.configure(caller.tenant_id, SourceId(source_id), body.changes)
