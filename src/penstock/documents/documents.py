"""Lists, shows, retries, re-indexes and deletes documents."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from time import monotonic
from typing import TYPE_CHECKING, TypeVar

from penstock.db.tenancy import TenantPool
from penstock.documents.filters import DocumentFilter, DocumentOrder, bad_cursor, read_cursor, write_cursor
from penstock.documents.rows import (
    ChunkRow,
    Content,
    Document,
    DocumentPage,
    DocumentText,
    Estimate,
    Event,
    Explanation,
    External,
    Ingestion,
    OriginalFile,
    Page,
    StatusCount,
)
from penstock.documents.timeline import Span, spans_of
from penstock.model import (
    DocumentId,
    DocumentStatus,
    IngestionId,
    ProjectId,
    SourceId,
    TaskId,
    TenantId,
)
from penstock.model.rows import row_from, row_from_json

if TYPE_CHECKING:
    from penstock.blobs.store import Blobs

T = TypeVar("T")

PAGE = "select ingest.page_documents($1, $2, $3, $4, $5)"
COUNT = "select ingest.count_documents($1)"
TEXT = "select ingest.document_text($1, $2, $3)"
TIMELINE = "select ingest.document_timeline($1)"
ENDED = frozenset({DocumentStatus.INDEXED, DocumentStatus.SKIPPED, DocumentStatus.FAILED})


class Documents:
    """`blobs` opens the store when an original is first asked for.

    `check_embedder` raises for an embedder that a project could not be switched to.
    """

    def __init__(
        self,
        tenants: TenantPool,
        blobs: Callable[[], Blobs],
        check_embedder: Callable[[str], None] = lambda _: None,
    ) -> None:
        self._tenants = tenants
        self._blobs = blobs
        self._check_embedder = check_embedder

    async def list(
        self,
        tenant_id: TenantId,
        *,
        project: str | ProjectId | None = None,
        status: DocumentStatus | None = None,
        source_id: SourceId | None = None,
        mime_type: str | None = None,
        title: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Page[Document]:
        """Newest first; `page` has more filters, other orders and counts."""
        chosen = DocumentFilter(
            project=None if project is None else str(project),
            status=None if status is None else status.value,
            source_id=None if source_id is None else str(source_id),
            mime_type=mime_type,
            title=title,
        )
        found = await self.page(tenant_id, chosen, cursor=cursor, limit=limit)
        return Page(items=found.items, cursor=found.cursor)

    async def page(
        self,
        tenant_id: TenantId,
        chosen: DocumentFilter,
        *,
        sort: DocumentOrder = "newest",
        cursor: str | None = None,
        limit: int = 50,
        count: bool = False,
    ) -> DocumentPage:
        """Documents that match a filter, and how many match with `count`."""
        after_id, after_at = read_cursor(cursor)
        asked = chosen.as_json()
        async with self._tenants.transaction(tenant_id) as conn:
            found = json.loads(await conn.fetchval(PAGE, asked, sort, after_id, after_at, limit))
            counted = json.loads(await conn.fetchval(COUNT, asked)) if count else {}
        return DocumentPage(
            items=[row_from(Document, row) for row in found["items"]],
            cursor=write_cursor(found["next"]),
            total=counted.get("total"),
            approximate=counted.get("approximate", False),
        )

    async def counts(self, tenant_id: TenantId, chosen: DocumentFilter) -> Sequence[StatusCount]:
        """How many documents match a filter in each status but deleted, in the order of the pipeline."""
        found = []
        async with self._tenants.transaction(tenant_id) as conn:
            for status in DocumentStatus:
                if status is not DocumentStatus.DELETED:
                    asked = replace(chosen, status=status.value).as_json()
                    counted = json.loads(await conn.fetchval(COUNT, asked))
                    found.append(StatusCount(status=status, **counted))
        return found

    async def text(
        self, tenant_id: TenantId, document_id: DocumentId, start: int = 0, end: int | None = None
    ) -> DocumentText:
        """The parsed text between two positions; at most 200,000 characters."""
        row = json.loads(await self._value(tenant_id, TEXT, document_id, start, end))
        return row_from(DocumentText, row | {"start": row["from"], "end": row["to"]})

    async def timeline(self, tenant_id: TenantId, document_id: DocumentId) -> Sequence[Span]:
        """What happened to a document: work, waits and events, oldest first."""
        return spans_of(json.loads(await self._value(tenant_id, TIMELINE, document_id)))

    async def show(self, tenant_id: TenantId, document_id: DocumentId) -> Document:
        """One document."""
        return row_from_json(
            Document, await self._value(tenant_id, "select ingest.show_document($1)", document_id)
        )

    async def find(self, tenant_id: TenantId, name: str, also: Sequence[str] = ()) -> Sequence[Document]:
        """Documents with this name: an external id or path, the end of a path, a file name or a title.

        `also` are other spellings of the path. At most ten, newest first.
        """
        rows = await self._rows(tenant_id, "select ingest.find_documents($1, $2)", [name, *also], name)
        return [row_from_json(Document, row) for row in rows]

    async def external(
        self, tenant_id: TenantId, project: str, prefix: str, *, after: DocumentId | None = None
    ) -> Sequence[External]:
        """A page of documents by prefix of their external id, ordered by it; empty after the last."""
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch("select * from ingest.list_external($1, $2, $3)", project, prefix, after)
        return [row_from(External, dict(row)) for row in rows]

    async def events(
        self, tenant_id: TenantId, document_id: DocumentId, cursor: str | None = None, limit: int = 100
    ) -> Page[Event]:
        """The timeline, oldest first."""
        rows = await self._rows(
            tenant_id, "select ingest.list_events($1, $2, $3)", document_id, _number(cursor, 18), limit + 1
        )
        return _page([row_from_json(Event, row) for row in rows], limit, lambda e: str(e.event_id))

    async def chunks(
        self, tenant_id: TenantId, document_id: DocumentId, cursor: str | None = None, limit: int = 100
    ) -> Page[ChunkRow]:
        """The searchable chunks of a document, in order."""
        rows = await self._rows(
            tenant_id, "select ingest.list_chunks($1, $2, $3)", document_id, _number(cursor, 9), limit + 1
        )
        return _page([row_from_json(ChunkRow, row) for row in rows], limit, lambda c: str(c.ordinal))

    async def ingestions(
        self, tenant_id: TenantId, document_id: DocumentId, limit: int = 50
    ) -> Sequence[Ingestion]:
        rows = await self._rows(tenant_id, "select ingest.list_ingestions($1, $2)", document_id, limit)
        return [row_from_json(Ingestion, row) for row in rows]

    async def ingestion(self, tenant_id: TenantId, ingestion_id: IngestionId) -> Ingestion:
        return row_from_json(
            Ingestion, await self._value(tenant_id, "select ingest.show_ingestion($1)", ingestion_id)
        )

    async def content(self, tenant_id: TenantId, document_id: DocumentId) -> Content:
        """The original, as a stream."""
        found = json.loads(await self._value(tenant_id, "select ingest.content_of($1)", document_id))
        return Content(
            _once(found["text"].encode())
            if found["blob_path"] is None
            else await self._blobs().read(found["blob_path"]),
            found["size_bytes"],
            found["mime_type"],
            found["filename"],
            found["content_sha256"],
        )

    async def original(self, tenant_id: TenantId, document_id: DocumentId) -> OriginalFile:
        """Where the original is stored, without reading it."""
        found = json.loads(await self._value(tenant_id, "select ingest.content_of($1)", document_id))
        return OriginalFile(found["blob_path"], found["mime_type"], found["content_sha256"])

    async def retry(self, tenant_id: TenantId, document_id: DocumentId) -> TaskId:
        """Process a failed or skipped document again."""
        return TaskId(int(await self._value(tenant_id, "select ingest.retry_document($1)", document_id)))

    async def count_to_retry(
        self,
        tenant_id: TenantId,
        *,
        status: str = "failed",
        reason: str | None = None,
        project: str | ProjectId | None = None,
    ) -> int:
        """How many documents `retry_all` would retry."""
        named = None if project is None else str(project)
        return int(
            await self._value(tenant_id, "select ingest.count_to_retry($1, $2, $3)", status, reason, named)
        )

    async def retry_all(
        self,
        tenant_id: TenantId,
        *,
        status: str = "failed",
        reason: str | None = None,
        project: str | ProjectId | None = None,
    ) -> int:
        """Retry all failed (or skipped) documents, or those with one reason; returns how many."""
        named = None if project is None else str(project)
        total, until = 0, None
        while True:
            async with self._tenants.transaction(tenant_id) as conn:
                until = until or await conn.fetchval("select clock_timestamp()")
                sent = await conn.fetchval(
                    "select ingest.retry_documents($1, $2, $3, $4)", status, reason, named, until
                )
            if sent == 0:
                return total
            total += sent

    async def reindex(self, tenant_id: TenantId, document_id: DocumentId) -> TaskId:
        """Index it again; returns the task that does it."""
        return TaskId(int(await self._value(tenant_id, "select ingest.reindex_document($1)", document_id)))

    async def delete(self, tenant_id: TenantId, document_id: DocumentId) -> int:
        """Delete it; no search finds it afterwards. Returns the number deleted, including attachments."""
        return int(await self._value(tenant_id, "select ingest.delete_document($1)", document_id))

    async def explain(self, tenant_id: TenantId, document_id: DocumentId) -> Explanation:
        """Where the document is on its way, and why."""
        return row_from_json(
            Explanation, await self._value(tenant_id, "select ingest.explain_document($1)", document_id)
        )

    async def wait(self, tenant_id: TenantId, document_id: DocumentId, seconds: float) -> Document:
        """The document once it is indexed, skipped or failed, or its current state when the time is up."""
        deadline = monotonic() + seconds
        pause = 0.02
        while True:
            document = await self.show(tenant_id, document_id)
            left = deadline - monotonic()
            if document.status in ENDED or left <= 0:
                return document
            await asyncio.sleep(min(pause, left))
            pause = min(pause * 1.5, 0.5)

    async def reindex_project(
        self, tenant_id: TenantId, project: str | ProjectId, *, embedder: str | None = None
    ) -> TaskId:
        """Re-index a project; a new embedder replaces the live one when all documents are ready."""
        if embedder is not None:
            self._check_embedder(embedder)
        return TaskId(
            int(await self._value(tenant_id, "select ingest.start_reindex($1, $2)", str(project), embedder))
        )

    async def estimate(self, tenant_id: TenantId, project: str | ProjectId, model: str) -> Estimate:
        """What a re-index with this model would embed, and how much of it is cached."""
        row = await self._value(tenant_id, "select ingest.estimate($1, $2)", str(project), model)
        return replace(row_from_json(Estimate, row), model=model)

    async def _value(self, tenant_id: TenantId, call: str, *arguments: object) -> str:
        async with self._tenants.transaction(tenant_id) as conn:
            return await conn.fetchval(call, *arguments)  # type: ignore[no-any-return]  # jsonb or a number

    async def _rows(self, tenant_id: TenantId, call: str, *arguments: object) -> Sequence[str]:
        async with self._tenants.transaction(tenant_id) as conn:
            return [row[0] for row in await conn.fetch(call, *arguments)]


async def _once(content: bytes) -> AsyncIterator[bytes]:
    yield content


def _page(items: Sequence[T], limit: int, key: Callable[[T], str]) -> Page[T]:
    """One row more than requested means that there is a next page."""
    return Page(items=list(items[:limit]), cursor=key(items[limit - 1]) if len(items) > limit else None)


def _number(cursor: str | None, digits: int) -> int | None:
    if cursor is None:
        return None
    if not cursor.isascii() or not cursor.isdigit() or len(cursor) > digits:
        raise bad_cursor()
    return int(cursor)
