"""One look at one item: what is there now becomes its document, and what is not there loses its document."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Protocol, TypeAlias

from pydantic import BaseModel, ConfigDict, Field

from penstock.errors import InvalidArgument, QuotaExceeded, TenantClosed, TooLarge
from penstock.model import DocumentId, ProjectId, Snooze, SourceId, TenantId
from penstock.observe import get_logger
from penstock.sources.errors import Throttled
from penstock.sources.protocol import Gone, Item, LookProvider, OpenSource
from penstock.sources.sync.items import Batch

if TYPE_CHECKING:
    from penstock.db import Connection
    from penstock.db.tenancy import TenantPool
    from penstock.queue.task_run import ClosingRun
    from penstock.settings import Settings
    from penstock.sources.passwords import Passwords
    from penstock.sources.protocol import Provider
    from penstock.sources.sync.items import ReadItem

log = get_logger(__name__)

BEGIN = "select ingest.begin_look($1, $2)"
PUT = "select ingest.put_item($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)"
REMOVE = "select ingest.remove_item($1, $2)"

MAX_ATTEMPTS = 12
QUOTA_SECONDS = 3_600.0

Within: TypeAlias = "Callable[[Connection, DocumentId], Awaitable[None]]"
"""Called last in the transaction that takes a document in."""


class ItemToRead(BaseModel):
    """The payload of `read-item`; `sequencer`: the change it was told of first, others may have joined."""

    model_config = ConfigDict(frozen=True)

    source_id: SourceId
    stream: Annotated[str, Field(min_length=1, max_length=100)]
    item: Annotated[str, Field(min_length=1, max_length=1_000)]
    sequencer: Annotated[str | None, Field(max_length=64, pattern="^[0-9A-Fa-f]+$")] = None

    @property
    def external_id(self) -> str:
        return f"{self.stream}/{self.item}"


class TakeItem(Protocol):
    """Takes an item's content in, as a document of the source; a protocol, since intake is not below."""

    async def __call__(
        self,
        tenant_id: TenantId,
        source_id: SourceId,
        project_id: ProjectId,
        external_id: str,
        item: Item,
        within: Within,
    ) -> DocumentId: ...


class Looking:
    """The handler of `read-item`; one per worker, shared by its runs."""

    def __init__(
        self,
        tenants: TenantPool,
        settings: Settings,
        provider: Callable[[str], Provider],
        passwords: Passwords,
        take: TakeItem,
    ) -> None:
        self._tenants = tenants
        self._settings = settings
        self._provider = provider
        self._passwords = passwords
        self._take = take

    async def __call__(self, payload: ItemToRead, run: ClosingRun) -> Snooze | None:
        assert run.tenant_id is not None, "a look's task carries its tenant"
        tenant_id = TenantId(run.tenant_id)
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            known = json.loads(await conn.fetchval(BEGIN, payload.source_id, payload.external_id))
        if known["mode"] != "look":
            return None
        provider = self._provider(known["kind"])
        assert isinstance(provider, LookProvider), "only such a source asks for looks"
        source = OpenSource(
            tenant_id, payload.source_id, known["kind"], known["account"], known["config"], self._settings
        )
        if known["password_id"] is not None:
            password = await self._passwords.open(tenant_id, known["password_id"], provider, known["config"])
            source = replace(source, password=password)
        try:
            async with provider.look(source, payload.stream, payload.item) as found:
                await self._settle(tenant_id, payload, known, found, run)
        except Throttled as throttled:
            return Snooze(throttled.retry_after)
        except QuotaExceeded:
            return Snooze(QUOTA_SECONDS)
        except TenantClosed:
            return None
        return None

    async def _settle(
        self,
        tenant_id: TenantId,
        payload: ItemToRead,
        known: Mapping[str, Any],
        found: Item | Gone,
        run: ClosingRun,
    ) -> None:
        if isinstance(found, Gone):
            async with run.transaction() as conn:
                if await conn.fetchval(REMOVE, payload.source_id, payload.external_id):
                    log.info("item_removed", source_id=str(payload.source_id))
            return
        batch = Batch(payload.stream)
        batch.add(found)
        read = batch.items[payload.external_id]
        if read.sha256.hex() == known["payload_sha256"]:
            return
        if found.content is None:
            await self._put_unusable(payload, read, found.skip_reason or "it has no content", run)
            return
        project_id = ProjectId(known["project_id"])
        try:
            async with run.closing() as complete:

                async def within(conn: Connection, document_id: DocumentId) -> None:
                    await _put(conn, payload, read, document_id, None)
                    await complete(conn)

                await self._take(tenant_id, payload.source_id, project_id, payload.external_id, found, within)
        except (InvalidArgument, TooLarge) as refused:
            await self._put_unusable(payload, read, refused.message, run)

    async def _put_unusable(self, payload: ItemToRead, read: ReadItem, reason: str, run: ClosingRun) -> None:
        """Note it, so that it is not read again before it changes."""
        log.warning("item_unusable", source_id=str(payload.source_id), reason=reason)
        async with run.transaction() as conn:
            await _put(conn, payload, read, None, reason)


async def _put(
    conn: Connection, payload: ItemToRead, read: ReadItem, document_id: DocumentId | None, reason: str | None
) -> None:
    """Its row; `unusable` in its payload says why it has no document."""
    shown = read.payload if reason is None else json.dumps({**json.loads(read.payload), "unusable": reason})
    await conn.execute(
        PUT,
        payload.source_id,
        payload.stream,
        payload.external_id,
        read.item.document_type,
        document_id,
        read.item.version,
        shown,
        read.sha256,
        read.item.updated_at,
        payload.sequencer,
    )
