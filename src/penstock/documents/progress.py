"""Tracks documents through the stages until each is indexed, skipped or failed."""

from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from time import monotonic

from penstock.db.pause import pause
from penstock.documents.documents import ENDED, Documents
from penstock.documents.rows import Document
from penstock.errors import NotFound
from penstock.model import DocumentId, DocumentStatus, TenantId

STAGES = (DocumentStatus.PENDING, DocumentStatus.PROCESSING, DocumentStatus.EMBEDDING)
PAGE = 500
LOOK_SECONDS = 0.15


@dataclass(slots=True)
class IngestProgress:
    """Which documents are in progress and which have ended, including their attachments."""

    documents: Documents
    tenant_id: TenantId
    project: str
    under_way: dict[DocumentId, DocumentStatus] = field(default_factory=dict)
    ended: dict[DocumentId, Document] = field(default_factory=dict)
    gone: set[DocumentId] = field(default_factory=set)
    attachments: set[DocumentId] = field(default_factory=set)

    def add(self, document_ids: Iterable[DocumentId]) -> None:
        for document_id in document_ids:
            if document_id not in self.ended:
                self.under_way.setdefault(document_id, DocumentStatus.PENDING)

    def counts(self) -> Counter[DocumentStatus]:
        return Counter([*self.under_way.values(), *(each.status for each in self.ended.values())])

    async def until_ended(self, looked: Callable[[], None], each_time: Callable[[], Awaitable[None]]) -> None:
        """Poll until nothing is in progress, new or just ended."""
        while True:
            await each_time()
            begun = monotonic()
            changed = await self.look()
            looked()
            if not self.under_way and not changed and not await self.find_missed():
                return
            await pause(max(LOOK_SECONDS, 3 * (monotonic() - begun)))

    async def look(self) -> bool:
        """Query every stage once; True if a document ended or appeared."""
        found: dict[DocumentId, DocumentStatus] = {}
        for status in STAGES:
            async for document in self._in(status):
                ours = document.document_id in self.under_way
                if not ours and self._is_attachment(document):
                    self.attachments.add(document.document_id)
                    ours = True
                if ours:
                    found[document.document_id] = status
        changed = bool(found.keys() - self.under_way.keys())
        # A document in no stage has ended or moved between two queries: only its own row tells.
        for document_id in [each for each in self.under_way if each not in found]:
            try:
                document = await self.documents.show(self.tenant_id, document_id)
            except NotFound:  # it was deleted
                self.gone.add(document_id)
                changed = True
                continue
            if document.status in ENDED:
                self.ended[document_id] = document
                changed = True
            else:
                found[document_id] = document.status
        self.under_way = found
        return changed

    async def find_missed(self) -> bool:
        """Find attachments that went through all stages between two polls; True if there were any."""
        missed = [
            document.document_id
            async for document in self._in(None)
            if self._is_attachment(document) and document.document_id not in self.ended
        ]
        self.attachments.update(missed)
        self.add(missed)
        return bool(missed)

    def _is_attachment(self, document: Document) -> bool:
        parent = document.parent_document_id
        return parent is not None and (parent in self.under_way or parent in self.ended)

    async def _in(self, status: DocumentStatus | None) -> AsyncIterator[Document]:
        cursor = None
        while True:
            page = await self.documents.list(
                self.tenant_id, project=self.project, status=status, cursor=cursor, limit=PAGE
            )
            for document in page.items:
                yield document
            cursor = page.cursor
            if cursor is None:
                return
