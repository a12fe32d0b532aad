"""The engine: one app with the document task types and all services used by them and by the API."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack
from functools import cached_property
from typing import TYPE_CHECKING, Self

from penstock.engine.document_tasks import declare_documents
from penstock.engine.operator_access import assert_operator, operator_pool
from penstock.engine.process_tasks import Processes
from penstock.engine.push_maintenance import PushMaintenance
from penstock.engine.services import Services
from penstock.engine.source_sync import SourceSync
from penstock.engine.tasks import Tasks
from penstock.errors import IndexNotReady
from penstock.model import Attachment, DocumentId, ProjectId, TenantId
from penstock.model.queue_names import (
    DELIVER,
    INGEST,
    MAINTAIN,
    OPERATE,
    READ,
    REINDEX,
    SHARD,
    SUBSCRIBE,
    SYNC,
)
from penstock.observe import get_logger
from penstock.pipeline.bulk.calls import BulkCalls
from penstock.pipeline.maintenance import DocumentMaintenance
from penstock.pipeline.project_deletion import ProjectDeletion
from penstock.pipeline.version import CODE_VERSION
from penstock.settings import Settings
from penstock.vault.maintenance import VaultMaintenance
from penstock.webhooks.deliver_task import Delivering
from penstock.worker import Worker

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.observe import Metrics
    from penstock.pipeline.bulk.shard_runner import ShardRunner
    from penstock.pipeline.classify import Classifier
    from penstock.pipeline.ingest import Ingest
    from penstock.pipeline.parser_pool import ParserPool
    from penstock.pipeline.steps import Steps
    from penstock.sources.imap.watching import MailWatch
    from penstock.sources.protocol import Provider

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
        self._parsers: ParserPool | None = None
        self._steps: Steps | None = None
        self._ingest: Ingest | None = None
        self._starting = asyncio.Lock()
        self._operators: TenantPool | None = None
        self.processes = Processes(self.tasks, self.settings)
        self.own_providers = providers
        self.source_sync = SourceSync(self)
        self.push_maintenance = PushMaintenance(self)
        declare_documents(self)
        # One tenant's slow files must not block the others.
        self.tasks.reserve[INGEST] = self.settings.ingest_concurrency
        self.tasks.services[SYNC] = self._mail_watch

    @property
    def queues(self) -> Mapping[str, int]:
        """The queues of documents and processes, with each one's concurrency per worker."""
        documents = {INGEST: self.settings.ingest_concurrency, REINDEX: 2, DELIVER: 10, MAINTAIN: 1}
        documents |= {SYNC: 4, READ: 8, SUBSCRIBE: 2, OPERATE: 2}
        documents |= {SHARD: self.settings.reindex_concurrency}
        return documents | dict(self.processes.queues)

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
        self._check_models()
        await self.providers.declare(self.tenants)
        await self._prepare_index()
        self.maintenance = DocumentMaintenance(self.tenants, self.blobs, self.index)
        self.vault_maintenance = VaultMaintenance(
            self.tenants, self.parameters, orphaned_days=self.settings.orphaned_secret_days
        )
        self.processes.open(self.tenants, self.blobs, self.index, self.http)
        self._opened.push_async_callback(self.processes.close)
        self.project_deletion = ProjectDeletion(self.tenants)
        self.delivering = Delivering(self.tenants, self.secrets, self.http)

    def _check_models(self) -> None:
        if self.settings.embedder_fallback is not None or self.settings.embedding_fallback_url is not None:
            from penstock.embed.registry import check_fallback

            check_fallback(self.settings)
        if self.settings.reranker is not None:
            from penstock.search.reranking import check_reranker

            check_reranker(self.settings)

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
        await self.ingest_run()

    @cached_property
    def bulk_calls(self) -> BulkCalls:
        return BulkCalls(self.tenants, CODE_VERSION)

    async def shard_runner(self) -> ShardRunner:
        """Runs shards of a re-index in this process."""
        from penstock.pipeline.bulk.shard_runner import ShardRunner

        return ShardRunner(
            calls=self.bulk_calls,
            steps=await self._started(),
            outages=self.outages,
            lease_seconds=self.settings.lease_seconds,
            beat_seconds=self.settings.beat_seconds,
        )

    async def ingest_run(self) -> Ingest:
        steps = await self._started()
        if self._ingest is None:
            from penstock.pipeline.ingest import Ingest
            from penstock.pipeline.one_batch import OneBatch

            self._ingest = Ingest(
                tenants=self.tenants,
                steps=steps,
                one_batch=OneBatch(
                    self.tenants, self.embedders, steps.chunk_embedder, self.outages, CODE_VERSION
                ),
                classifier=self._classifier or self._make_classifier(),
                outages=self.outages,
                code_version=CODE_VERSION,
                run_seconds=self.settings.run_seconds,
            )
        return self._ingest

    async def _started(self) -> Steps:
        if self._steps is None:
            async with self._starting:
                if self._steps is None:
                    self._steps = await self._start_parsers()
        return self._steps

    async def _start_parsers(self) -> Steps:
        from penstock.pipeline.embedding import ChunkEmbedder
        from penstock.pipeline.parser_pool import ParserPool
        from penstock.pipeline.steps import Steps

        self.embedders.gives_way = True
        if self._parsers is None:
            self._parsers = ParserPool(self.settings)
            self._opened.push_async_callback(self._parsers.close)
        await self._parsers.start()
        return Steps(
            blobs=self.blobs,
            parser=self._parsers,
            embeds=self.embedders,
            chunk_embedder=ChunkEmbedder(self.tenants, self.embedders, self.index),
            take_attachment=self._take_attachment,
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
        noted = {**metadata, "parent_document_id": str(parent)}
        if attachment.path is not None:
            noted["path"] = attachment.path
        await self.intake.take_in(
            tenant_id,
            _once(attachment.content),
            project=project_id,
            filename=attachment.filename,
            declared_type=attachment.mime_type,
            uploaded_by=f"document:{parent}",
            source_metadata=noted,
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
