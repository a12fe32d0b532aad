"""Wires the syncs of sources: providers, tokens, the writer, intake for files."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from penstock.model import DocumentId, ProjectId, SourceId, TenantId
from penstock.observe import get_logger
from penstock.pipeline.version import CODE_VERSION

if TYPE_CHECKING:
    from penstock.db import Connection
    from penstock.documents.rows import Taken
    from penstock.engine.services import Services
    from penstock.model import Snooze
    from penstock.queue.task_run import ClosingRun, TaskRun
    from penstock.sources.clients.embedding import ClientEmbedding
    from penstock.sources.protocol import Item
    from penstock.sources.sync.job import SyncJob, SyncSource
    from penstock.sources.sync.looking import ItemToRead, Looking, Within
    from penstock.sources.sync.sync import Sync

log = get_logger(__name__)

DUE = "select all_tenants.start_due_syncs()"
SETTLE = "select all_tenants.settle_syncs()"


class SourceSync:
    """The handler of `sync-source` in an engine, and the maintenance of syncs."""

    def __init__(self, services: Services) -> None:
        self._services = services

    @cached_property
    def clients(self) -> ClientEmbedding:
        from penstock.sources.clients.embedding import ClientEmbedding

        return ClientEmbedding(self._services.tenants, self._services.embedders)

    @cached_property
    def sync(self) -> Sync:
        from penstock.sources.sync.estimating import FirstSyncEstimate
        from penstock.sources.sync.records import RecordEmbedder
        from penstock.sources.sync.sync import Sync
        from penstock.sources.sync.writing import ItemWriter

        services = self._services
        return Sync(
            tenants=services.tenants,
            settings=services.settings,
            provider=services.providers.get,
            tokens=services.tokens,
            passwords=services.passwords,
            writer=ItemWriter(
                services.tenants,
                RecordEmbedder(services.tenants, services.embedders, services.index),
                self._take_file,
                CODE_VERSION,
            ),
            clients=self.clients,
            estimates=FirstSyncEstimate(
                services.tenants, services.embedders, services.settings.embedding_price_per_million_tokens
            ),
        )

    @cached_property
    def looking(self) -> Looking:
        from penstock.sources.sync.looking import Looking

        services = self._services
        return Looking(
            services.tenants, services.settings, services.providers.get, services.passwords, self._take_looked
        )

    async def __call__(self, payload: SyncSource, run: TaskRun) -> Snooze | None:
        return await self.sync(payload, run)

    async def look(self, payload: ItemToRead, run: ClosingRun) -> Snooze | None:
        return await self.looking(payload, run)

    async def maintain(self) -> None:
        """Start the syncs that are due, end those whose task is gone, embed clients that people wrote."""
        async with self._services.tenants.all_tenants() as conn:
            started = await conn.fetchval(DUE)
            settled = await conn.fetchval(SETTLE)
        if started or settled:
            log.info("syncs_maintained", started=started, settled=settled)
        await self.clients.refresh_manual()

    async def _take_file(
        self, tenant_id: TenantId, source_id: SourceId, job: SyncJob, external_id: str, item: Item
    ) -> DocumentId:
        noted = {"job_id": str(job.job_id)}
        return await self._take(tenant_id, source_id, job.project_id, external_id, item, noted, None)

    async def _take_looked(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        project_id: ProjectId,
        external_id: str,
        item: Item,
        within: Within,
    ) -> DocumentId:
        return await self._take(tenant_id, source_id, project_id, external_id, item, {}, within)

    async def _take(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        project_id: ProjectId,
        external_id: str,
        item: Item,
        noted: Mapping[str, str],
        within: Within | None,
    ) -> DocumentId:
        assert item.content is not None
        noted = {**item.source_metadata, **noted, "external_id": external_id}
        if isinstance(path := item.payload.get("path"), str):
            noted["path"] = path

        async def at_last(conn: Connection, taken: Taken) -> None:
            if within is not None:
                await within(conn, taken.document_id)

        async with item.content.open() as pieces:
            taken = await self._services.intake.take_in(
                tenant_id,
                pieces,
                project=project_id,
                filename=item.content.filename,
                declared_type=item.content.media_type,
                source_id=source_id,
                source_metadata=noted,
                metadata={"document_type": item.document_type},
                external_id=None if item.by_content else external_id,
                retry_failed=False,
                within=at_last,
            )
        return taken.document_id
