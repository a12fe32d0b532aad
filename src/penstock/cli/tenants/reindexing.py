"""Re-indexes a project on the workers for `project reindex` and `model use`, and waits if asked to."""

from __future__ import annotations

import getpass
from dataclasses import dataclass

from penstock.accounts import Project
from penstock.cli.reindex.following import follow
from penstock.cli.tenant_session import TenantSession
from penstock.errors import InvalidMove
from penstock.model import TaskId, TenantId


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
    run = await session.engine.reindexes.start(owner, project, by=getpass.getuser(), embedder=embedder)
    assert run.task_id is not None, "a run on the workers has a task"
    if wait:
        run = await follow(session, owner, run.run_id, quiet=quiet)
        if run.state != "done":
            raise InvalidMove(
                f"the project {project!r} was not re-indexed: {run.reason}",
                "project",
                f"To see why: penstock reindex status {run.run_id}",
            )
    found = await session.engine.accounts.show_project(owner, project)
    assert run.task_id is not None
    return ReindexOutcome(TaskId(run.task_id), found, waited=wait)
