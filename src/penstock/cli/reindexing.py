"""Waits for a project to be indexed again, or to be switched to another embedder, and shows how far it is."""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass

from penstock.accounts import Project
from penstock.cli.following import STAGES
from penstock.cli.ingest_progress import stage_bar, stages
from penstock.cli.local_worker import working
from penstock.cli.product_session import Stay
from penstock.db.reach import reach
from penstock.errors import InvalidMove
from penstock.model import DocumentStatus, TaskId, TenantId
from penstock.queue.operations import Operations

LOOK_SECONDS = 0.3
OPEN = ("ready", "running", "waiting", "parked")


@dataclass(frozen=True, slots=True)
class Reindex:
    """The task that does it, and the project as it was last seen."""

    task_id: TaskId
    project: Project
    waited: bool


async def reindex(
    here: Stay, owner: TenantId, project: str, embedder: str | None, *, wait: bool, quiet: bool
) -> Reindex:
    """Ask for it and, if so wanted, wait until nothing of it is left to do."""
    task_id = await here.product.documents.reindex_project(owner, project, embedder=embedder)
    if not wait:
        return Reindex(task_id, await here.product.accounts.show_project(owner, project), waited=False)
    with stage_bar(quiet=quiet) as draw:
        async with (
            working(here, None) as local,
            reach(here.addresses.operator, application_name="penstock cli") as line,
        ):
            while True:
                await local.ensure()
                state = str((await Operations(line).show_task(task_id))["state"])
                seen = await here.product.accounts.show_project(owner, project)
                counts = Counter({DocumentStatus(name): count for name, count in seen.documents.items()})
                under_way = sum(counts[stage] for stage in STAGES)
                draw(counts.total() - under_way, counts.total(), stages(counts))
                if state not in OPEN and not under_way:
                    break
                await asyncio.sleep(LOOK_SECONDS)
    if state == "dead" or seen.next_embedder is not None:
        raise InvalidMove(
            f"the project {project!r} was not indexed again: its task {task_id} is {state}",
            "project",
            f"See why: penstock explain {task_id}",
        )
    return Reindex(task_id, seen, waited=True)
