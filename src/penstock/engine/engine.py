"""The engine: one app with the document task types and all services used by them and by the API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Self

from penstock.engine.operator_access import assert_operator, operator_pool
from penstock.engine.process_tasks import Processes
from penstock.engine.push_maintenance import PushMaintenance
from penstock.engine.services import Services
from penstock.engine.source_sync import SourceSync
from penstock.engine.tasks import Tasks
from penstock.errors import IndexNotReady
from penstock.model import Attachment, DocumentId, Exponential, NoRetry, ProjectId, Snooze, TenantId
from penstock.model.queue_names import DELIVER, INGEST, MAINTAIN, OPERATE, REINDEX, SUBSCRIBE, SYNC
from penstock.observe import get_logger
from penstock.pipeline.job import MAX_ATTEMPTS, IngestDocument
from penstock.pipeline.maintenance import DocumentMaintenance, MaintainDocuments
from penstock.pipeline.operating import Operate, Operating
from penstock.pipeline.project_deletion import DeleteProject, ProjectDeletion
from penstock.pipeline.reindexing import Reindexing, ReindexProject
from penstock.pipeline.version import CODE_VERSION
from penstock.settings import Settings
from penstock.sources.deletion import DeleteSource, SourceDeletion
from penstock.sources.mail.subscribing import MAX_ATTEMPTS as SUBSCRIBE_ATTEMPTS
from penstock.sources.mail.subscribing import SubscribeSource
from penstock.sources.oauth.revoking import MAX_ATTEMPTS as REVOKE_ATTEMPTS
from penstock.sources.oauth.revoking import REVOKE, RevokeTokens
from penstock.sources.sync.job import MAX_ATTEMPTS as SYNC_ATTEMPTS
from penstock.sources.sync.job import SyncSource
from penstock.vault.maintenance import VaultMaintenance
from penstock.webhooks.deliver_task import Delivering, DeliverWebhook
from penstock.worker import Context, Worker

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.observe import Metrics
    from penstock.pipeline.classify import Classifier
    from penstock.pipeline.ingest import Ingest
    from penstock.pipeline.parser_pool import ParserPool
    from penstock.sources.imap.watching import MailWatch
    from penstock.sources.protocol import Provider

RUN_SECONDS = 3600.0
SYNC_LOSSES = 10_000
OPERATOR_CONNECTIONS = 4


class Engine(Services):
    """`async with Engine(settings) as engine` opens it; parsers and models start with the first run."""

    def __init__(
        self,
        settings: Settings | None = None,
        *,
        classifier: Classifier | None = None,
        providers: Mapping[str, Provider] | None = None,
    ) -> None:
        """`providers`: sources of the caller's own, by their kind."""
        super().__init__(settings or Settings())
        self.tasks = Tasks(self.settings)
        self._classifier = classifier
        self._desk: ParserPool | None = None
        self._ingest: Ingest | None = None
        self._starting = asyncio.Lock()
        self._operators: TenantPool | None = None
        self.processes = Processes(self.tasks, self.settings)
        self.own_providers = providers
        self.source_sync = SourceSync(self)
        self.push_maintenance = PushMaintenance(self)
        self._declare()
        # One tenant's slow files must not block the others.
        self.tasks.reserve[INGEST] = self.settings.ingest_concurrency
        self.tasks.services[SYNC] = self._mail_watch

    @property
    def queues(self) -> Mapping[str, int]:
        """The queues of documents and processes, with each one's concurrency per worker."""
        documents = {INGEST: self.settings.ingest_concurrency, REINDEX: 2, DELIVER: 10, MAINTAIN: 1}
        documents |= {SYNC: 4, SUBSCRIBE: 2, OPERATE: 2}
        return documents | dict(self.processes.queues)

    def _declare(self) -> None:
        task = self.tasks.task
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

        @task(
            REVOKE,
            queue=DELIVER,
            max_attempts=REVOKE_ATTEMPTS,
            retry=Exponential(base=5, factor=4, cap=86_400),
        )
        async def revoke(payload: RevokeTokens, ctx: Context) -> Snooze | None:
            return await self.revoking(payload, ctx)

        @task("delete-source", queue=REINDEX, max_attempts=20, retry=backoff, on_duplicate="coalesce")
        async def delete_source(payload: DeleteSource, ctx: Context) -> None:
            await SourceDeletion(self.tenants)(payload, ctx)

        # An operation keeps its position, so any number of lost workers may continue it.
        @task(
            OPERATE,
            queue=OPERATE,
            max_attempts=10,
            max_losses=SYNC_LOSSES,
            retry=backoff,
            on_duplicate="coalesce",
        )
        async def operate(payload: Operate, ctx: Context) -> Snooze | None:
            return await Operating(self.tenants)(payload, ctx)

        # A sync that gets on may lose any number of workers; ingest.begin_sync() ends one that does not.
        @task(
            SYNC,
            queue=SYNC,
            max_attempts=SYNC_ATTEMPTS,
            max_losses=SYNC_LOSSES,
            retry=backoff,
            on_duplicate="coalesce",
        )
        async def sync(payload: SyncSource, ctx: Context) -> Snooze | None:
            return await self.source_sync(payload, ctx)

        @task(
            SUBSCRIBE,
            queue=SUBSCRIBE,
            max_attempts=SUBSCRIBE_ATTEMPTS,
            retry=Exponential(base=5, factor=4),
            on_duplicate="coalesce",
        )
        async def subscribe(payload: SubscribeSource, ctx: Context) -> None:
            await self.subscribing(payload, ctx)

        @task(MAINTAIN, queue=MAINTAIN, max_attempts=1, retry=NoRetry())
        async def maintain(payload: MaintainDocuments) -> None:
            await self.maintenance(payload)
            await self.outages.maintain()
            await self.source_sync.maintain()
            await self.push_maintenance.run_once()
            await self.vault_maintenance.run_once()
            await self.connecting.forget_old()

        self.tasks.schedule("* * * * *", maintain)

    async def open(self) -> None:
        """Connect, and create at once what its settings might prevent."""
        async with AsyncExitStack() as closing:
            await self.tasks.open()
            self._opened.push_async_callback(self.tasks.close)
            closing.push_async_callback(self.close)
            await self.connect(self.tasks.addresses.runtime)
            await self._wire()
            closing.pop_all()

    async def _wire(self) -> None:
        await asyncio.to_thread(lambda: self.blobs)
        await self.secrets.keys.vault()
        self._check_fallback()
        await self.providers.declare(self.tenants)
        await self._prepare_index()
        self.maintenance = DocumentMaintenance(self.tenants, self.blobs, self.index)
        self.vault_maintenance = VaultMaintenance(
            self.tenants, self.parameters, orphaned_days=self.settings.orphaned_secret_days
        )
        self.processes.open(self.tenants, self.blobs, self.index, self.http)
        self._opened.push_async_callback(self.processes.close)
        self._reindexing = Reindexing(self.tenants, CODE_VERSION)
        self._project_deletion = ProjectDeletion(self.tenants)
        self._delivering = Delivering(self.tenants, self.secrets, self.http)

    def _check_fallback(self) -> None:
        if self.settings.embedder_fallback is not None:
            from penstock.embed.registry import check_fallback

            check_fallback(self.settings)

    async def _prepare_index(self) -> None:
        """Use a pgvector installed since the last migration; without one the queue still works."""
        try:
            await self.index.require()
        except IndexNotReady as missing:
            get_logger(__name__).warning("index_not_ready", reason=missing.message, remedy=missing.remedy)

    async def operators(self) -> TenantPool:
        """The operator's connections, opened with the first call; NotAllowed if its login is not one."""
        async with self._starting:
            if self._operators is None:
                async with AsyncExitStack() as opening:
                    opened = operator_pool(self.tasks.addresses, self.settings, size=OPERATOR_CONNECTIONS)
                    pool = await opening.enter_async_context(opened)
                    await assert_operator(pool)
                    self._opened.push_async_exit(opening.pop_all())
                self._operators = pool
        return self._operators

    def worker(self, *, name: str | None = None, metrics: Metrics | None = None) -> Worker:
        """A worker for the document queues, not yet started."""
        return self.tasks.worker(self.queues, name=name, metrics=metrics)

    def _mail_watch(self) -> MailWatch:
        from penstock.sources.imap.watching import MailWatch

        return MailWatch(
            tenants=lambda: self.tenants,
            settings=self.settings,
            providers=lambda: self.providers,
            passwords=lambda: self.passwords,
        )

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
        from penstock.pipeline.embedding import ChunkEmbedder
        from penstock.pipeline.ingest import Ingest
        from penstock.pipeline.parser_pool import ParserPool

        self.embedders.gives_way = True
        if self._desk is None:
            self._desk = ParserPool(self.settings)
            self._opened.push_async_callback(self._desk.close)
        await self._desk.start()
        return Ingest(
            tenants=self.tenants,
            blobs=self.blobs,
            parser=self._desk,
            embeds=self.embedders,
            chunk_embedder=ChunkEmbedder(self.tenants, self.embedders, self.index),
            classifier=self._classifier or self._make_classifier(),
            take_attachment=self._take_attachment,
            outages=self.outages,
            code_version=CODE_VERSION,
        )

    def _make_classifier(self) -> Classifier:
        from penstock.pipeline.classify.by_source import BySource, Defaults
        from penstock.pipeline.classify.llm.making import make_llm, open_llm_client
        from penstock.pipeline.classify.local import LocalClassifier

        local = LocalClassifier(self.embedders, self.settings)
        client = open_llm_client(self.settings)
        self._opened.push_async_callback(client.aclose)
        llm = make_llm(self.settings, client, self.tenants, local)
        defaults = Defaults(self.settings.classifier, self.settings.classifier_of_mailboxes)
        return BySource(self.tenants, defaults, {"local": local, "llm": llm or local})

    async def _take_attachment(
        self,
        tenant_id: TenantId,
        project_id: ProjectId,
        parent: DocumentId,
        attachment: Attachment,
        metadata: Mapping[str, str],
        depth: int,
    ) -> None:
        await self.intake.take_in(
            tenant_id,
            _once(attachment.content),
            project=project_id,
            filename=attachment.filename,
            declared_type=attachment.mime_type,
            uploaded_by=f"document:{parent}",
            source_metadata={**metadata, "parent_document_id": str(parent)},
            metadata={"depth": depth},
            parent_document_id=parent,
        )

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content
