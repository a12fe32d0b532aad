"""The whole engine on a test's database: a tenant, content handed in, a worker on demand, and the books."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.accounts import Accounts, Tenant
from penstock.db import Connection
from penstock.db.connect import connect
from penstock.db.tenancy import TenantPool
from penstock.documents.rows import Document, Taken
from penstock.engine.engine import Engine
from penstock.model import DocumentId, TenantId
from penstock.pipeline.classify import Classifier
from penstock.search import SearchHit, SearchQuery
from penstock.settings import Settings
from penstock.sources.protocol import Provider
from penstock.worker import Worker
from tests.plugins.database import Database


@dataclass(slots=True)
class Works:
    """A tenant's view of a running engine."""

    engine: Engine
    database: Database
    tenant: Tenant
    keeps_connection: bool = False
    _admin: Connection | None = None
    _looking: asyncio.Lock = field(default_factory=asyncio.Lock)

    @property
    def tenant_id(self) -> TenantId:
        return self.tenant.tenant_id

    async def hand_in(self, content: str | bytes, filename: str = "note.md", **options: Any) -> Taken:
        data = content.encode() if isinstance(content, str) else content
        options.setdefault("uploaded_by", "test")
        return await self.engine.intake.take_in(self.tenant_id, once(data), filename=filename, **options)

    async def settled(self, document_id: DocumentId, seconds: float = 60) -> Document:
        """The document once its run ended."""
        return await self.engine.documents.wait(self.tenant_id, document_id, seconds)

    async def index(self, content: str | bytes, filename: str = "note.md", **options: Any) -> Document:
        """Hand in and wait until it is indexed; a worker must be at work."""
        document = await self.settled((await self.hand_in(content, filename, **options)).document_id)
        assert document.status == "indexed", (document.reason_code, document.error_message)
        return document

    async def find(self, query: str, **options: Any) -> tuple[SearchHit, ...]:
        answer = await self.engine.search.search(self.tenant_id, SearchQuery(query=query, **options))
        return answer.hits

    async def event_names(self, document_id: DocumentId) -> list[str]:
        """The names of the document's events, in order."""
        page = await self.engine.documents.events(self.tenant_id, document_id, limit=1000)
        return [event.event for event in page.items]

    async def moves(self, document_id: DocumentId) -> list[str]:
        """The statuses the document went through."""
        page = await self.engine.documents.events(self.tenant_id, document_id, limit=1000)
        return [event.to_status.value for event in page.items if event.to_status is not None]

    async def value(self, query: str, *arguments: object) -> Any:
        """What the administrator reads."""
        return await self._look(lambda admin: admin.fetchval(query, *arguments))

    async def rows(self, query: str, *arguments: object) -> list[dict[str, Any]]:
        """The rows the administrator reads."""
        return [dict(row) for row in await self._look(lambda admin: admin.fetch(query, *arguments))]

    async def _look(self, at: Callable[[Connection], Awaitable[Any]]) -> Any:
        """On one connection if works_on closes it: those who wait ask many times a second."""
        if not self.keeps_connection or self._looking.locked():
            async with self.database.connect("admin") as admin:
                return await at(admin)
        async with self._looking:
            if self._admin is not None and not self._admin.is_closed():
                try:
                    return await at(self._admin)
                except Exception:  # a test may have ended it
                    if not self._admin.is_closed():
                        raise
            self._admin = await connect(self.database.admin_url, application_name="test")
            return await at(self._admin)

    async def close(self) -> None:
        if self._admin is not None and not self._admin.is_closed():
            await self._admin.close(timeout=5)

    @asynccontextmanager
    async def working(self) -> AsyncIterator[Worker]:
        worker = self.engine.worker()
        try:
            await worker.start()
            yield worker
        finally:
            await worker.stop()


async def once(content: bytes) -> AsyncIterator[bytes]:
    yield content


def settings_for(database: Database, folder: Path, **settings: Any) -> Settings:
    """Short leases and one parser, on the test's database and folder."""
    return Settings(
        **{
            "database_url": database.runtime_url,
            "operator_url": database.operator_url,
            "admin_url": database.admin_url,
            "data_dir": folder,
            "lease_seconds": 5.0,
            "beat_seconds": 0.5,
            "grace_seconds": 5.0,
            "parse_processes": 1,
            "allow_private_addresses": True,
            **settings,
        }
    )


@asynccontextmanager
async def works_on(
    database: Database,
    folder: Path,
    *,
    classifier: Classifier | None = None,
    providers: Mapping[str, Provider] | None = None,
    slug: str = "acme",
    **settings: Any,
) -> AsyncIterator[Works]:
    chosen = settings_for(database, folder, **settings)
    async with Engine(chosen, classifier=classifier, providers=providers) as engine:
        operators = await TenantPool.open(database.operator_url, application_name="operator", size=1)
        try:
            tenant = await Accounts(operators, chosen).create_tenant(slug)
        finally:
            await operators.close()
        works = Works(engine, database, tenant, keeps_connection=True)
        try:
            yield works
        finally:
            await works.close()
