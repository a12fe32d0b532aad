"""The product: one app with the document task types and every service they and the API stand on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import Self

from penstock.accounts import AccountDeletions, Accounts, CompletionWebhooks, KeptReplies
from penstock.app import Penstock
from penstock.channels import Messages
from penstock.db.tenancy import TenantPool
from penstock.index import open_index
from penstock.intake import Blobs, Documents, Intake, WebhookSources
from penstock.model import Attachment, DocumentId, Exponential, NoRetry, ProjectId, Snooze, TenantId
from penstock.net.outbound import open_client
from penstock.observe import Metrics
from penstock.pipeline.classify import Classifier, KeepAll
from penstock.pipeline.delivering import Delivering, DeliverWebhook
from penstock.pipeline.embedding import ChunkEmbedder
from penstock.pipeline.ingest import MAX_ATTEMPTS, Ingest
from penstock.pipeline.job import IngestDocument
from penstock.pipeline.parse import ParseDesk
from penstock.pipeline.reindexing import Reindexing, ReindexProject
from penstock.pipeline.tending import TendDocuments, Tending
from penstock.pipeline.version import CODE_VERSION
from penstock.product.embedders import Embedders
from penstock.product.processes import Processes
from penstock.search import Search
from penstock.settings import Settings
from penstock.vault import Secrets, Vault
from penstock.worker import Context, Worker

INGEST = "ingest-document"
REINDEX = "reindex-project"
DELIVER = "deliver-webhook"
TEND = "tend-documents"
RUN_SECONDS = 3600.0


class Product:
    """`async with Product(settings) as product` opens it; parsers and models start with the first run."""

    def __init__(self, settings: Settings | None = None, *, classifier: Classifier | None = None) -> None:
        self.settings = settings or Settings()
        self.app = Penstock(self.settings)
        self._classifier = classifier or KeepAll()
        self._opened = AsyncExitStack()
        self.processes = Processes(self.app, self.settings)
        self._declare()

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

        @task(DELIVER, queue=DELIVER, max_attempts=8, retry=Exponential(base=5, factor=4))
        async def deliver(payload: DeliverWebhook, ctx: Context) -> None:
            await self._delivering(payload, ctx)

        @task(TEND, queue=TEND, max_attempts=1, retry=NoRetry())
        async def tend(payload: TendDocuments) -> None:
            await self.tending(payload)

        self.app.schedule("* * * * *", tend)

    async def open(self) -> None:
        async with AsyncExitStack() as opened:
            await self.app.open()
            opened.push_async_callback(self.app.close)
            await self._wire(opened)
            self._opened = opened.pop_all()

    async def _wire(self, opened: AsyncExitStack) -> None:
        """Make every service; `opened` is told what to close again, the last first."""
        settings = self.settings
        self.tenants = await TenantPool.open(
            self.app.addresses.runtime,
            application_name="penstock documents",
            size=max(settings.pool_size, settings.ingest_concurrency + 5),
            statement_cache=settings.statement_cache,
        )
        opened.push_async_callback(self.tenants.close)
        self.blobs = await asyncio.to_thread(Blobs.open, settings)
        self.secrets = Secrets(await asyncio.to_thread(Vault.from_settings, settings))
        self.accounts = Accounts(self.tenants, settings)
        self.deletions = AccountDeletions(self.tenants, settings)
        self.replies = KeptReplies(self.tenants)
        self.intake = Intake(self.tenants, self.blobs, settings, CODE_VERSION)
        self.documents = Documents(self.tenants, self.blobs)
        self.webhooks = WebhookSources(self.tenants, self.intake, self.secrets)
        self.completion_webhooks = CompletionWebhooks(
            self.tenants, self.secrets, allow_private=settings.allow_private_addresses
        )
        self.embedders = Embedders(settings, self.tenants.pool)
        opened.push_async_callback(self.embedders.close)
        self.index = await open_index(settings, self.tenants)
        opened.push_async_callback(self.index.close)
        self.search = Search(self.tenants, self.embedders, self.index)
        self.http = open_client(allow_private=settings.allow_private_addresses)
        opened.push_async_callback(self.http.aclose)
        self.tending = Tending(self.tenants, self.blobs, self.index)
        self.processes.open(self.tenants, self.blobs, self.index, self.http)
        opened.push_async_callback(self.processes.close)
        self.messages = Messages(self.tenants)
        self._reindexing = Reindexing(self.tenants, CODE_VERSION)
        self._delivering = Delivering(self.tenants, self.secrets, self.http)
        self._desk = ParseDesk(settings)
        opened.push_async_callback(self._desk.close)
        self._ingest: Ingest | None = None
        self._starting = asyncio.Lock()

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
                    self.embedders.gives_way = True
                    await self._desk.start()
                    self._ingest = Ingest(
                        tenants=self.tenants,
                        blobs=self.blobs,
                        parser=self._desk,
                        sandbox=self._desk.sandbox,
                        embeds=self.embedders,
                        chunk_embedder=ChunkEmbedder(self.tenants, self.embedders, self.index),
                        classifier=self._classifier,
                        take_attachment=self._take_attachment,
                        code_version=CODE_VERSION,
                        chunk_seconds=self.settings.parse_seconds,
                    )
        return self._ingest

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

    async def close(self) -> None:
        await self._opened.aclose()

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
