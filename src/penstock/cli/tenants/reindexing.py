"""Waits until a project is re-indexed or switched to another embedder, and shows the progress."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from penstock.accounts import Project
from penstock.cli.ingest.progress import stage_bar, stages
from penstock.cli.tenant_session import TenantSession
from penstock.db.pause import pause
from penstock.db.reach import reach
from penstock.documents.progress import STAGES
from penstock.engine.local_worker import working
from penstock.errors import InvalidMove
from penstock.model import DocumentStatus, TaskId, TenantId
from penstock.queue.operations import Operations

LOOK_SECONDS = 0.3
OPEN = ("ready", "running", "waiting", "parked")


@dataclass(frozen=True, slots=True)
class ReindexOutcome:
    """The re-index task, and the project as last read."""

    task_id: TaskId
    project: Project
    waited: bool


async def reindex(
    session: TenantSession, owner: TenantId, project: str, embedder: str | None, *, wait: bool, quiet: bool
) -> ReindexOutcome:
    """Request it and, if asked to, wait until it is done."""
    await session.declare()
    task_id = await session.engine.documents.reindex_project(owner, project, embedder=embedder)
    if not wait:
        return ReindexOutcome(
            task_id, await session.engine.accounts.show_project(owner, project), waited=False
        )
    with stage_bar(quiet=quiet) as draw:
        async with (
            working(session.local_worker(None)) as local,
            reach(session.addresses.operator, application_name="penstock cli") as line,
        ):
            while True:
                await local.ensure()
                state = str((await Operations(line).show_task(task_id))["state"])
                seen = await session.engine.accounts.show_project(owner, project)
                counts = Counter({DocumentStatus(name): count for name, count in seen.documents.items()})
                under_way = sum(counts[stage] for stage in STAGES)
                draw(counts.total() - under_way, counts.total(), stages(counts))
                if state not in OPEN and not under_way:
                    break
                await pause(LOOK_SECONDS)
    if state == "dead" or seen.next_embedder is not None:
        raise InvalidMove(
            f"the project {project!r} was not re-indexed: its task {task_id} is {state}",
            "project",
            f"To see why: penstock explain {task_id}",
        )
    return ReindexOutcome(task_id, seen, waited=True)
