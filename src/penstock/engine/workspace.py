"""One tenant's documents, search, sources and messages."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, Unpack

from pydantic import ValidationError

from penstock.documents.file_intake import Labels, take_file
from penstock.documents.files import File, find_files
from penstock.documents.progress import IngestProgress
from penstock.documents.rows import Taken
from penstock.engine.bound import TenantClients, TenantDocuments, TenantMessages, TenantSources, TenantWebhook
from penstock.engine.engine import Engine
from penstock.engine.local_worker import LocalWorker, working
from penstock.engine.operator_access import is_served, made_tenant, may_make_default, operators
from penstock.errors import InvalidArgument, NotFound, Refused
from penstock.errors.invalid_field import invalid_argument
from penstock.model import DocumentId, IngestionStatus, TenantId
from penstock.model.queue_names import INGEST
from penstock.observe import get_logger
from penstock.search import SearchAnswer, SearchQuery
from penstock.search.query import SearchOptions

log = get_logger(__name__)

DEFAULT = "default"
AT_ONCE = 4
"""Files submitted at a time, so that hashing and disk reads overlap with database calls."""

S = TypeVar("S")


@dataclass(frozen=True, slots=True)
class IngestedFile:
    """The result for one file: a `refused` one was not accepted, an `unchanged` one was already indexed."""

    path: Path
    status: Literal["indexed", "skipped", "failed", "unchanged", "queued", "refused"]
    document_id: DocumentId | None = None
    reason: str | None = None


class Workspace:
    """Created by `Penstock` for its own tenant, and by `app.tenant(slug)` for another."""

    def __init__(self, slug: str, engine: Callable[[], Awaitable[Engine]]) -> None:
        self.slug = slug
        """The tenant's slug."""
        self._open = engine
        self._tenant_id: TenantId | None = None

    async def ingest(
        self,
        *paths: str | Path,
        pattern: str | None = None,
        project: str = DEFAULT,
        metadata: Mapping[str, Any] | None = None,
        retry_failed: bool = False,
        wait: bool = True,
        worker: bool | None = None,
    ) -> Sequence[IngestedFile]:
        """Add files and folders and, unless `wait` is false, return when they are searchable.

        A file is identified by its path: the same file again is the same document. If no worker is running,
        one runs here until all documents are done; set `worker` to true or false to decide yourself.
        """
        files = _find(paths, pattern)
        engine, owner = await self._resolved()
        if engine.settings.index == "pgvector":
            await engine.index.require()  # or every document would wait for an administrator
        # Rejects an unknown project before any file is read.
        await engine.accounts.show_project(owner, project)
        labels = Labels(project, metadata, retry_failed=retry_failed)
        slots = asyncio.Semaphore(AT_ONCE)

        async def take(file: File) -> Taken | str:
            if file.reason is not None:
                return file.reason
            try:
                async with slots:
                    return await take_file(engine.intake, owner, file, labels, "python")
            except OSError as error:
                return error.strerror or str(error)
            except Refused as error:
                return str(error)

        following = IngestProgress(engine.documents, owner, project)
        if not wait:
            taken = await asyncio.gather(*(take(file) for file in files))
        else:
            async with working(self._local_worker(engine, worker)) as local:
                taken = await asyncio.gather(*(take(file) for file in files))
                following.add(each.document_id for each in taken if isinstance(each, Taken) and _runs(each))
                await following.until_ended(lambda: None, local.ensure)
        return [_ended(file.path, each, following) for file, each in zip(files, taken, strict=True)]

    async def upload(
        self,
        content: bytes | AsyncIterable[bytes],
        *,
        filename: str,
        project: str = DEFAULT,
        external_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        wait: bool = True,
        worker: bool | None = None,
    ) -> IngestedFile:
        """Add one document from memory and, unless `wait` is false, return when it is searchable.

        A document is identified by its `external_id` or, without one, by its content. `wait` and `worker` are
        as for `ingest`; content that is not accepted raises the error.
        """
        engine, owner = await self._resolved()
        if engine.settings.index == "pgvector":
            await engine.index.require()
        taken = await engine.intake.take_in(
            owner,
            _pieces(content),
            project=project,
            filename=filename,
            uploaded_by="python",
            external_id=external_id,
            metadata=metadata,
        )
        following = IngestProgress(engine.documents, owner, project)
        if wait and _runs(taken):
            async with working(self._local_worker(engine, worker)) as local:
                following.add([taken.document_id])
                await following.until_ended(lambda: None, local.ensure)
        return _ended(Path(filename), taken, following)

    async def search(self, query: str, /, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """The best passages, best first: `for hit in await app.search("…")`.

        Raises InvalidArgument for an invalid option; `SearchOptions` says what each means.
        """
        try:
            asked = SearchQuery(query=query, **options)
        except ValidationError as error:
            raise invalid_argument(error, "query") from None
        engine, owner = await self._resolved()
        return await engine.search.search(owner, asked)

    @cached_property
    def documents(self) -> TenantDocuments:
        """List and show documents, process them again, delete them."""
        return TenantDocuments(self._service(lambda engine: engine.documents))

    @cached_property
    def sources(self) -> TenantSources:
        """Where documents come from."""
        return TenantSources(self._service(lambda engine: engine.sources))

    @cached_property
    def clients(self) -> TenantClients:
        """Clients, with the facts that sources state about them."""
        return TenantClients(self._service(lambda engine: engine.clients))

    @cached_property
    def webhook(self) -> TenantWebhook:
        """The webhook to which others send signed documents."""
        return TenantWebhook(self._service(lambda engine: engine.webhooks))

    @cached_property
    def messages(self) -> TenantMessages:
        """Send emails and text messages."""
        return TenantMessages(self._service(lambda engine: engine.messages))

    def _service(self, of: Callable[[Engine], S]) -> Callable[[], Awaitable[tuple[S, TenantId]]]:
        async def resolve() -> tuple[S, TenantId]:
            engine, owner = await self._resolved()
            return of(engine), owner

        return resolve

    async def _resolved(self) -> tuple[Engine, TenantId]:
        engine = await self._open()
        if self._tenant_id is None:
            self._tenant_id = await self._find_tenant(engine)
        return engine, self._tenant_id

    async def _find_tenant(self, engine: Engine) -> TenantId:
        try:
            return (await engine.accounts.find_tenant(self.slug)).tenant_id
        except NotFound:
            if self.slug != DEFAULT:
                raise
        addresses = engine.tasks.addresses
        async with operators(addresses, engine.settings) as accounts:
            if not await may_make_default(accounts):
                raise NotFound(
                    "this database has no tenant 'default'",
                    "tenant",
                    "Name one of its tenants: Penstock(tenant=…); see penstock tenant list",
                )
            return (await made_tenant(accounts, DEFAULT)).tenant_id

    def _local_worker(self, engine: Engine, wanted: bool | None) -> LocalWorker:
        addresses, settings = engine.tasks.addresses, engine.settings
        return LocalWorker(
            engine=lambda: nullcontext(engine),
            served=lambda: is_served(addresses, settings, INGEST),
            may_start=True,  # a program that waits for its documents may as well process them
            look_seconds=settings.lease_seconds,
            warn=lambda line: log.warning("worker_missing", detail=line),
            wanted=wanted,
        )


def _find(paths: Sequence[str | Path], pattern: str | None) -> list[File]:
    if not paths:
        raise InvalidArgument("no path was given", "paths", "Name files or folders: ingest('contracts/')")
    for path in paths:
        if not Path(path).exists():
            raise InvalidArgument(f"there is no file or folder {str(path)!r}", "paths", "Check the path")
    return find_files([Path(path) for path in paths], pattern)


async def _pieces(content: bytes | AsyncIterable[bytes]) -> AsyncIterator[bytes]:
    if isinstance(content, bytes):
        yield content
        return
    async for piece in content:
        yield piece


def _runs(taken: Taken) -> bool:
    return not taken.skipped and taken.status is not IngestionStatus.FAILED


def _ended(path: Path, taken: Taken | str, following: IngestProgress) -> IngestedFile:
    if isinstance(taken, str):
        return IngestedFile(path, "refused", reason=taken)
    document = following.ended.get(taken.document_id)
    if document is not None:
        reason = document.error_message or document.reason_code
        return IngestedFile(path, _END[document.status.value], taken.document_id, reason)
    if taken.skipped:
        return IngestedFile(path, "unchanged", taken.document_id)
    if taken.status is IngestionStatus.FAILED:
        reason = "it failed before and has not changed; use retry_failed=True to retry it"
        return IngestedFile(path, "failed", taken.document_id, reason)
    return IngestedFile(path, "queued", taken.document_id)


_END: Mapping[str, Literal["indexed", "skipped", "failed"]] = {
    "indexed": "indexed",
    "skipped": "skipped",
    "failed": "failed",
}
