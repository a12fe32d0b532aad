"""Re-indexes of projects over HTTP: start, follow, stop, resume."""

from __future__ import annotations

from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Path, Request
from pydantic import Field

from penstock.api.guarded import GuardedRoute
from penstock.api.identity import engine_of
from penstock.api.json_values import Body, Text
from penstock.api.parameters import Cursor, Limit, ProjectWriter, Reader
from penstock.documents.reindexes import ReindexPage, ReindexRun

router = APIRouter(route_class=GuardedRoute, tags=["Re-indexes"], prefix="/v1/reindexes")

OneReindex = Annotated[UUID, Path(alias="run_id", description="The re-index's id.")]


class ReindexWanted(Body):
    """Which project, and with which model; without `embedder` it keeps its own."""

    project: Annotated[Text, Field(max_length=63, pattern="^[a-z0-9][a-z0-9-]*$")] = "default"
    embedder: Annotated[Text, Field(min_length=1, max_length=100)] | None = None
    shard_documents: Annotated[int, Field(ge=1, le=10_000)] | None = None


@router.post("", status_code=202, operation_id="startReindex")
async def start(request: Request, caller: ProjectWriter, body: ReindexWanted) -> ReindexRun:
    """Re-index a project on the workers, or join the re-index in progress if it does the same.

    A re-index in progress that does something else is stopped.
    """
    engine = engine_of(request)
    project = await engine.accounts.show_project(caller.tenant_id, body.project)
    # An unavailable model must be rejected now and not by every document.
    await engine.embedders.embedder(body.embedder or project.embedder)
    return await engine.reindexes.start(
        caller.tenant_id,
        body.project,
        by=caller.decider,
        embedder=body.embedder,
        shard_documents=body.shard_documents,
    )


@router.get("", operation_id="listReindexes")
async def reindexes(
    request: Request, caller: Reader, cursor: Cursor = None, limit: Limit = 50
) -> ReindexPage:
    """List re-indexes, newest first; they are kept for 30 days."""
    return await engine_of(request).reindexes.list(caller.tenant_id, cursor=cursor, limit=limit)


@router.get("/{run_id}", operation_id="showReindex")
async def reindex(request: Request, caller: Reader, run_id: OneReindex) -> ReindexRun:
    """Show a re-index: its progress, rate and cost, who works on it, and when it will end."""
    return await engine_of(request).reindexes.show(caller.tenant_id, run_id)


@router.post("/{run_id}/stop", operation_id="stopReindex")
async def stop(request: Request, caller: ProjectWriter, run_id: OneReindex) -> ReindexRun:
    """Stop a re-index; what is published stays, and a resume does the rest."""
    return await engine_of(request).reindexes.stop(caller.tenant_id, run_id, caller.decider)


@router.post("/{run_id}/resume", status_code=202, operation_id="resumeReindex")
async def resume(request: Request, caller: ProjectWriter, run_id: OneReindex) -> ReindexRun:
    """Continue a re-index that was stopped or failed, on the workers."""
    return await engine_of(request).reindexes.resume(caller.tenant_id, run_id, "queue")
