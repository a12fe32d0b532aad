"""The product: one app with the document task types and every service they and the API stand on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from penstock.app import Penstock
from penstock.errors import IndexNotReady
from penstock.model import Attachment, DocumentId, Exponential, NoRetry, ProjectId, Snooze, TenantId
from penstock.observe import get_logger
from penstock.pipeline.delivering import Delivering, DeliverWebhook
from penstock.pipeline.job import MAX_ATTEMPTS, IngestDocument
from penstock.pipeline.project_deletion import DeleteProject, ProjectDeletion
from penstock.pipeline.reindexing import Reindexing, ReindexProject
from penstock.pipeline.tending import TendDocuments, Tending
from penstock.pipeline.version import CODE_VERSION
from penstock.product.processes import Processes
from penstock.product.queues import DELIVER, INGEST, REINDEX, TEND
from penstock.product.services import Services
from penstock.settings import Settings
from penstock.worker import Context, Worker

if TYPE_CHECKING:
    from penstock.observe import Metrics
    from penstock.pipeline.classify import Classifier
    from penstock.pipeline.ingest import Ingest
    from penstock.pipeline.parse import ParseDesk

RUN_SECONDS = 3600.0


class Product(Services):
    """`async with Product(settings) as product` opens it; parsers and models start with the first run."""

    def __init__(self, settings: Settings | None = None, *, classifier: Classifier | None = None) -> None:
        super().__init__(settings or Settings())
        self.app = Penstock(self.settings)
        self._classifier = classifier
        self._desk: ParseDesk | None = None
        self._ingest: Ingest | None = None
        self._starting = asyncio.Lock()
        self.processes = Processes(self.app, self.settings)
        self._declare()
        # One tenant's slow files must not keep the others out.
        self.app.reserve[INGEST] = self.settings.ingest_concurrency

    @property
    def queues(self) -> Mapping[str, int]:
        """The queues of documents and processes, and how much of each one worker does at a time."""
        documents = {INGEST: self.settings.ingest_concurrency, REINDEX: 2, DELIVER: 10, TEND: 1}
        return documents | dict(self.processes.queues)

    def _declare(self) -> None:
        task = self.app.task
        backoff = Exponential(base=1, factor=4)

        @task(
            INGEST,
            queue=INGEST,
            max_attempts=MAX_ATTEMPTS,
            retry=backoff,
            on_duplicate="coalesce",
            time_limit=RUN_SECONDS,
        )
        async def ingest(payload: IngestDocument, ctx: Context) -> Snooze | None:
            return await (await self._run())(payload, ctx)

        @task(REINDEX, queue=REINDEX, max_attempts=1, retry=NoRetry(), on_duplicate="coalesce")
        async def reindex(payload: ReindexProject, ctx: Context) -> Snooze | None:
            return await self._reindexing(payload, ctx)

        @task("delete-project", queue=REINDEX, max_attempts=20, retry=backoff, on_duplicate="coalesce")
        async def delete_project(payload: DeleteProject, ctx: Context) -> None:
            await self._project_deletion(payload, ctx)

        @task(DELIVER, queue=DELIVER, max_attempts=8, retry=Exponential(base=5, factor=4))
        async def deliver(payload: DeliverWebhook, ctx: Context) -> None:
            await self._delivering(payload, ctx)

        @task(TEND, queue=TEND, max_attempts=1, retry=NoRetry())
        async def tend(payload: TendDocuments) -> None:
            await self.tending(payload)
            await self.outages.tend()

        self.app.schedule("* * * * *", tend)

    async def open(self) -> None:
        """Connect, and make at once what may be refused by its settings."""
        async with AsyncExitStack() as closing:
            await self.app.open()
            self._opened.push_async_callback(self.app.close)
            closing.push_async_callback(self.close)
            await self.connect(self.app.addresses.runtime)
            await self._wire()
            closing.pop_all()

    async def _wire(self) -> None:
        await asyncio.to_thread(lambda: (self.blobs, self.secrets))
        self._check_fallback()
        await self._prepare_index()
        self.tending = Tending(self.tenants, self.blobs, self.index)
        self.processes.open(self.tenants, self.blobs, self.index, self.http)
        self._opened.push_async_callback(self.processes.close)
        self._reindexing = Reindexing(self.tenants, CODE_VERSION)
        self._project_deletion = ProjectDeletion(self.tenants)
        self._delivering = Delivering(self.tenants, self.secrets, self.http)

    def _check_fallback(self) -> None:
        if self.settings.embedder_fallback is not None:
            from penstock.pipeline.embed.registry import check_fallback

            check_fallback(self.settings)

    async def _prepare_index(self) -> None:
        """Take up a pgvector installed since the last migration; without one the queue still works."""
        try:
            await self.index.require()
        except IndexNotReady as missing:
            get_logger(__name__).warning("index_not_ready", reason=missing.message, remedy=missing.remedy)

    def worker(self, *, name: str | None = None, metrics: Metrics | None = None) -> Worker:
        """A worker for the queues of documents, not yet started."""
        return self.app.worker(self.queues, name=name, metrics=metrics)

    async def warm(self) -> None:
        """Start the parsers now rather than with the first document."""
        await self._run()

    async def _run(self) -> Ingest:
        if self._ingest is None:
            async with self._starting:
                if self._ingest is None:
                    self._ingest = await self._start_parsers()
        return self._ingest

    async def _start_parsers(self) -> Ingest:
        from penstock.pipeline.classify import KeepAll
        from penstock.pipeline.embedding import ChunkEmbedder
        from penstock.pipeline.ingest import Ingest
        from penstock.pipeline.parse import ParseDesk

        self.embedders.gives_way = True
        if self._desk is None:
            self._desk = ParseDesk(self.settings)
            self._opened.push_async_callback(self._desk.close)
        await self._desk.start()
        return Ingest(
            tenants=self.tenants,
            blobs=self.blobs,
            parser=self._desk,
            embeds=self.embedders,
            chunk_embedder=ChunkEmbedder(self.tenants, self.embedders, self.index),
            classifier=self._classifier or KeepAll(),
            take_attachment=self._take_attachment,
            outages=self.outages,
            code_version=CODE_VERSION,
        )

    async def _take_attachment(
        self,
        tenant_id: TenantId,
        project_id: ProjectId,
        parent: DocumentId,
        attachment: Attachment,
        metadata: Mapping[str, str],
    ) -> None:
        await self.intake.take_in(
            tenant_id,
            _once(attachment.content),
            project=project_id,
            filename=attachment.filename,
            declared_type=attachment.mime_type,
            uploaded_by=f"document:{parent}",
            source_metadata={**metadata, "parent_document_id": str(parent)},
            parent_document_id=parent,
        )

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
