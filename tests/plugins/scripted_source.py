"""A provider whose records a test writes down: pages of them, deletions, and errors at a chosen page."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, ClassVar
from uuid import UUID

from penstock.model import SourceId, uuid7
from penstock.sources.mapping.field_map import FieldMap
from penstock.sources.mapping.mapped import Fact, MapFailed, Mapped
from penstock.sources.protocol import Checkpoint, Cursor, Gone, Item, OpenSource, SyncEvent
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import eventually

START = datetime(2026, 1, 1, tzinfo=UTC)


class NoteMap:
    """A note's text is its own; it states one fact about the company it names."""

    document_type = "scripted.note"
    version = 1

    def apply(self, external_id: str, payload: Mapping[str, Any]) -> Mapped:
        if "text" not in payload:
            raise MapFailed(self.document_type, "text", "is missing")
        facts: tuple[Fact, ...] = ()
        if "company" in payload:
            facts = (Fact(client=external_id, name="client_name", value=payload["company"]),)
        return Mapped(title=payload.get("title"), text=payload["text"], facts=facts)


@dataclass
class ScriptedProvider:
    """Records by stream and id. A delta yields what changed since the watermark, which is a change number."""

    kind: ClassVar[str] = "folder"  # any kind whose items are known by the source and an id
    title: ClassVar[str] = "Script"

    streams: tuple[str, ...] = ("notes",)
    page_size: int = 2
    records: dict[str, dict[str, dict[str, Any]]] = field(default_factory=dict)
    changes: list[tuple[str, str]] = field(default_factory=list)
    errors: dict[int, list[Exception]] = field(default_factory=dict)
    """What happens before a page, by its number since the test began."""
    pages: int = 0
    opened: int = 0
    reads: list[tuple[str, Any, bool, bool]] = field(default_factory=list)
    left_out: int = 0
    on_page: Any = None
    field_map: FieldMap = field(default_factory=NoteMap)

    @property
    def maps(self) -> Mapping[str, FieldMap]:
        return {"scripted.note": self.field_map}

    def put(self, number: str, text: str, stream: str = "notes", **more: Any) -> None:
        self.records.setdefault(stream, {})[number] = {"id": number, "text": text, **more}
        self.changes.append((stream, number))

    def delete(self, number: str, stream: str = "notes", *, quietly: bool = False) -> None:
        """Quietly: no change says so, as when a provider loses a deletion."""
        del self.records[stream][number]
        if not quietly:
            self.changes.append((stream, number))

    def oauth(self, settings: object) -> None:
        return None

    def check_config(self, config: Mapping[str, Any]) -> Mapping[str, Any]:
        return config

    @asynccontextmanager
    async def open(self, source: OpenSource) -> AsyncIterator[ScriptedProvider]:
        self.opened += 1
        yield self

    async def read(self, stream: str, cursor: Cursor) -> AsyncIterator[SyncEvent]:
        self.reads.append((stream, cursor.value, cursor.is_full, cursor.is_resumed))
        value = cursor.value or {}
        mark = value["mark"] if cursor.is_resumed else len(self.changes)
        if cursor.is_full:
            ids = sorted(self.records.get(stream, {}))
        else:
            since = value["since"] if cursor.is_resumed else value["mark"]
            ids = sorted({number for name, number in self.changes[since:mark] if name == stream})
        after = value.get("after", "") if cursor.is_resumed else ""
        todo = [number for number in ids if number > after]
        for at in range(0, len(todo), self.page_size):
            self.pages += 1
            if errors := self.errors.get(self.pages):
                raise errors.pop(0)
            for number in todo[at : at + self.page_size]:
                record = self.records.get(stream, {}).get(number)
                yield Gone(number) if record is None else _item(number, record)
            if self.on_page is not None:
                await self.on_page(self.pages)
            last = todo[at : at + self.page_size][-1]
            since = 0 if cursor.is_full else since
            yield Checkpoint(
                cursor={"mark": mark, "since": since, "after": last},
                expected=len(ids),
                left_out=self.left_out,
            )
        yield Checkpoint(cursor={"mark": mark}, done=True, left_out=self.left_out)


def _item(number: str, record: dict[str, Any]) -> Item:
    return Item(id=number, document_type="scripted.note", payload=record, updated_at=START)


def notes(count: int) -> ScriptedProvider:
    """A provider with this many notes, each about a turbine of its own."""
    provider = ScriptedProvider()
    for number in range(count):
        provider.put(f"{number:03}", f"Note {number} speaks of turbine {number}.", title=f"Note {number}")
    return provider


@asynccontextmanager
async def syncing(
    database: Database, folder: Path, provider: ScriptedProvider, **settings: Any
) -> AsyncIterator[Works]:
    """An engine whose sources are this provider's, with a worker."""
    async with works_on(database, folder, providers={"folder": provider}, **settings) as works:
        async with works.working():
            yield works


async def embedded(works: Works) -> int:
    """How many texts were embedded so far."""
    return int(await works.value("select coalesce(sum(texts), 0) from accounts.usage"))


async def add_source(works: Works, name: str = "script", **config: Any) -> SourceId:
    """A source of this provider, with its first sync asked for."""
    source_id = SourceId(uuid7())
    async with works.engine.tenants.transaction(works.tenant_id) as conn:
        await conn.execute(
            "select ingest.add_source($1, 'folder', $2, 'default', $2, $3)", source_id, name, "{}"
        )
    return source_id


async def synced(works: Works, source_id: UUID, *, full: bool = False) -> dict[str, Any]:
    """Ask for a sync and wait until none is wanted any more; returns the last one. Needs a worker."""
    async with works.engine.tenants.transaction(works.tenant_id) as conn:
        await conn.execute("select ingest.request_sync($1, $2)", source_id, full)
    return await settled(works, source_id)


async def hurry(works: Works, source_id: UUID) -> None:
    """Make waiting attempts due at once, until no sync is wanted any more.

    Repeatedly: a source says that its sync waits before the attempt is back in `queues.waiting`.
    """
    async with works.database.connect("admin") as admin:
        while await admin.fetchval(
            "select exists (select from ingest.pending_sync where source_id = $1)", source_id
        ):
            await admin.execute("update queues.waiting set due_at = internal.clock()")
            await admin.execute("select queues.wake(queue_id) from queues.queue")
            await asyncio.sleep(0.05)


async def settled(works: Works, source_id: UUID, within: float = 60) -> dict[str, Any]:
    async with works.database.connect("admin") as admin:

        async def is_over() -> bool:
            return not await admin.fetchval(
                "select exists (select from ingest.pending_sync where source_id = $1)"
                " or exists (select from ingest.ingestion_job where source_id = $1 and finished_at is null)",
                source_id,
            )

        await eventually(is_over, within=within)
        row = await admin.fetchrow(
            "select * from ingest.ingestion_job where source_id = $1 order by job_id desc limit 1", source_id
        )
    assert row is not None
    return dict(row)
