"""Waits until a re-index has ended and shows its progress, rate, cost and estimated end."""

from __future__ import annotations

from uuid import UUID

from penstock.cli.ingest.progress import Draw, stage_bar
from penstock.cli.tenant_session import TenantSession
from penstock.db.pause import pause
from penstock.documents.reindexes import ReindexRun
from penstock.engine.local_worker import working
from penstock.model import TenantId
from penstock.model.queue_names import SHARD

LOOK_SECONDS = 0.5


async def follow(
    session: TenantSession, owner: TenantId, run_id: UUID, *, worker: bool | None = None, quiet: bool
) -> ReindexRun:
    """Wait for a re-index on the workers; `worker` as in `TenantSession.local_worker`."""
    with stage_bar(quiet=quiet) as draw:
        async with working(session.local_worker(worker, queue=SHARD)) as local:
            while True:
                await local.ensure()
                shown = await watch(session, owner, run_id, draw)
                if not shown.is_open or shown.waits_for_a_person:
                    return shown
                await pause(LOOK_SECONDS)


async def watch(session: TenantSession, owner: TenantId, run_id: UUID, draw: Draw) -> ReindexRun:
    """Look once and draw what is there."""
    shown = await session.engine.reindexes.show(owner, run_id)
    draw(shown.done, max(shown.documents, 1), progress_text(shown))
    return shown


def progress_text(run: ReindexRun) -> str:
    """`12.5 documents/s  cost 0.02 of about 0.30  ends in 3 min (2 to 5 min)`, as far as it is known."""
    parts = []
    if run.documents_per_second is not None:
        parts.append(f"{run.documents_per_second:.3g} documents/s")
    if run.failed:
        parts.append(f"failed {run.failed:,}")
    if run.cost is not None:
        whole = "" if run.cost_estimate is None else f" of about {run.cost_estimate:.2f}"
        parts.append(f"cost {run.cost:.2f}{whole}")
    if run.waits_until is not None or (run.is_open and run.gate is not None and run.reason is not None):
        parts.append(f"waits: {run.reason}")
    elif run.eta_seconds is not None and run.eta_low is not None and run.eta_high is not None:
        between = f"{duration(run.eta_low)} to {duration(run.eta_high)}"
        parts.append(f"ends in {duration(run.eta_seconds)} ({between})")
    return "  ".join(parts)


def duration(seconds: float) -> str:
    for size, unit in ((86_400, "d"), (3_600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"
