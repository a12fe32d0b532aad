"""The public root: documents, search, sources, messages, processes and tasks of one program."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

from penstock.db.addresses import Addresses
from penstock.engine.tasks import Tasks
from penstock.settings import Settings

if TYPE_CHECKING:
    from penstock.engine.blocking import BlockingPenstock
    from penstock.engine.bound import (
        TenantClients,
        TenantDocuments,
        TenantMessages,
        TenantSources,
        TenantWebhook,
    )
    from penstock.engine.engine import Engine
    from penstock.engine.process_access import ProcessAccess
    from penstock.engine.workspace import IngestedFile, Workspace
    from penstock.search import SearchAnswer
    from penstock.search.query import SearchOptions


class Penstock(Tasks):
    """One app per program; keyword arguments override settings from PENSTOCK_* and .env.

    `async with app:` connects. Documents, sources and messages belong to `tenant`; `app.tenant(slug)` returns
    those of another. What a program does not use is neither imported nor opened.
    """

    def __init__(
        self, settings: Settings | None = None, *, tenant: str = "default", **overrides: Any
    ) -> None:
        super().__init__(settings, **overrides)
        self.slug = tenant
        """The tenant this app works for."""
        self._workspaces: dict[str, Workspace] = {}
        self._engine: Engine | None = None
        self._engine_opening = asyncio.Lock()

    async def ingest(
        self,
        *paths: str | Path,
        pattern: str | None = None,
        project: str = "default",
        metadata: Mapping[str, Any] | None = None,
        retry_failed: bool = False,
        wait: bool = True,
        worker: bool | None = None,
    ) -> Sequence[IngestedFile]:
        """Add files and folders and, unless `wait` is false, return when they are searchable.

        A file is identified by its path: the same file again is the same document. If no worker is running,
        one runs here until all documents are done; set `worker` to true or false to decide yourself.
        """
        return await self.tenant(self.slug).ingest(
            *paths,
            pattern=pattern,
            project=project,
            metadata=metadata,
            retry_failed=retry_failed,
            wait=wait,
            worker=worker,
        )

    async def upload(
        self,
        content: bytes | AsyncIterable[bytes],
        *,
        filename: str,
        project: str = "default",
        external_id: str | None = None,
        metadata: Mapping[str, Any] | None = None,
        wait: bool = True,
        worker: bool | None = None,
    ) -> IngestedFile:
        """Add one document from memory and, unless `wait` is false, return when it is searchable.

        A document is identified by its `external_id` or, without one, by its content. `wait` and `worker` are
        as for `ingest`; content that is not accepted raises the error.
        """
        return await self.tenant(self.slug).upload(
            content,
            filename=filename,
            project=project,
            external_id=external_id,
            metadata=metadata,
            wait=wait,
            worker=worker,
        )

    async def search(self, query: str, /, **options: Unpack[SearchOptions]) -> SearchAnswer:
        """The best passages, best first: `for hit in await app.search("…")`.

        Raises InvalidArgument for an invalid option; `SearchOptions` says what each means.
        """
        return await self.tenant(self.slug).search(query, **options)

    @property
    def documents(self) -> TenantDocuments:
        """List and show documents, process them again, delete them."""
        return self.tenant(self.slug).documents

    @property
    def sources(self) -> TenantSources:
        """Where documents come from."""
        return self.tenant(self.slug).sources

    @property
    def clients(self) -> TenantClients:
        """Clients, with the facts that sources state about them."""
        return self.tenant(self.slug).clients

    @property
    def webhook(self) -> TenantWebhook:
        """The webhook to which others send signed documents."""
        return self.tenant(self.slug).webhook

    @property
    def messages(self) -> TenantMessages:
        """Send emails and text messages."""
        return self.tenant(self.slug).messages

    @property
    def processes(self) -> ProcessAccess:
        """Show supervised processes and restart failed ones; needs the operator's login."""
        from penstock.engine.process_access import ProcessAccess

        return ProcessAccess(self._opened_addresses)

    def tenant(self, slug: str) -> Workspace:
        """Documents, search, sources and messages of another tenant."""
        if slug not in self._workspaces:
            from penstock.engine.workspace import Workspace

            self._workspaces[slug] = Workspace(slug, self.engine)
        return self._workspaces[slug]

    async def engine(self) -> Engine:
        """The services behind this app, opened on first use. Not part of the public API: they may change."""
        async with self._engine_opening:
            if self._engine is None:
                from penstock.engine.engine import Engine

                await self.open()
                engine = Engine(self.settings)
                await engine.open()
                self._engine = engine
            return self._engine

    async def close(self) -> None:
        """Close what was opened; the embedded server stops if nothing else uses it."""
        engine, self._engine = self._engine, None
        self._engine_opening = asyncio.Lock()  # a lock belongs to one loop; the app may be opened in another
        try:
            if engine is not None:
                await engine.close()
        finally:
            self._workspaces.clear()
            await super().close()

    async def _opened_addresses(self) -> Addresses:
        await self.open()
        return self.addresses

    def __enter__(self) -> BlockingPenstock:
        """Without `await`, for scripts and notebooks: `with Penstock() as app: app.ingest("contracts/")`."""
        from penstock.engine.blocking import BlockingPenstock

        self._blocking = BlockingPenstock(self)
        return self._blocking

    def __exit__(self, *_: object) -> None:
        self._blocking.close()
