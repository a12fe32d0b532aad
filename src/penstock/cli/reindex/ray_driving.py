"""Drives a re-index on Ray from this command, and shows its progress."""

from __future__ import annotations

from uuid import UUID

from penstock.cli.ingest.progress import stage_bar
from penstock.cli.reindex.following import watch
from penstock.cli.tenant_session import TenantSession
from penstock.documents.reindexes import ReindexRun
from penstock.engine.ray_cluster import RayCluster
from penstock.engine.ray_engine import RayDriver
from penstock.model import TenantId
from penstock.pipeline.bulk.calls import BulkCalls
from penstock.pipeline.version import CODE_VERSION


async def drive(
    session: TenantSession, owner: TenantId, run_id: UUID, *, cpus: float, gpus: float, quiet: bool
) -> ReindexRun:
    """Give out shards until the re-index has ended, here or by another driver, or waits for a person."""
    calls = BulkCalls(session.engine.tenants, CODE_VERSION)
    driver = RayDriver(calls, owner, run_id, RayCluster(cpus=cpus, gpus=gpus))
    with stage_bar(quiet=quiet) as draw:

        async def look() -> bool:
            return (await watch(session, owner, run_id, draw)).waits_for_a_person

        await driver.drive(look)
    return await driver.outlast(lambda: session.engine.reindexes.show(owner, run_id))
