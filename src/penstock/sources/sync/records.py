"""Makes the rows of changed items: text and facts by their field map, vectors of texts that fit one chunk."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from penstock.embed.cached import CachedEmbedding, TextToEmbed
from penstock.embed.tokens import counter
from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderRefused, EmbedderUnavailable, IndexNotReady
from penstock.index.vectors import as_text
from penstock.model import DocumentId, TenantId
from penstock.model.pipeline_options import CHUNK_TOKENS
from penstock.observe import get_logger
from penstock.sources.mapping.mapped import Fact, Mapped
from penstock.sources.sync.items import ReadItem

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.embed.embedders import Embedders
    from penstock.index import Index
    from penstock.model import Embedder, Vector
    from penstock.sources.mapping.field_map import FieldMap
    from penstock.sources.sync.job import SyncJob

log = get_logger(__name__)

CHARACTERS_PER_TOKEN = 16
"""A text with more characters than this per token of a chunk is too long without counting."""


@dataclass(slots=True)
class Record:
    """One changed item as it is written; `document_id` is given for a file, which was taken in before."""

    read: ReadItem
    map_version: int
    mapped: Mapped | None = None
    document_id: DocumentId | None = None
    text: str | None = None
    sha256: bytes = b""
    tokens: int = 0
    vector: str | None = None

    @property
    def facts(self) -> Sequence[Fact]:
        return () if self.mapped is None else self.mapped.facts

    def map(self, field_map: FieldMap) -> None:
        """What the field map makes of it; a file's text is its own. Raises MapFailed."""
        self.mapped = field_map.apply(self.read.external_id, json.loads(self.read.payload))
        if self.mapped.text and self.document_id is None:
            self.text = self.mapped.text.replace("\x00", "")
            self.sha256 = hashlib.sha256(self.text.encode()).digest()

    def row(self, n: int) -> dict[str, Any]:
        """As ingest.put_items() reads it."""
        item, mapped = self.read.item, self.mapped
        created_at = item.created_at or (mapped.created_at if mapped else None)
        updated_at = item.updated_at or (mapped.updated_at if mapped else None)
        return {
            "n": n,
            "external_id": self.read.external_id,
            "document_type": item.document_type,
            "version": item.version,
            "payload": json.loads(self.read.payload),
            "payload_sha256": self.read.sha256.hex(),
            "map_version": self.map_version,
            "title": mapped.title if mapped else None,
            "text": self.text,
            "tokens": self.tokens,
            "url": mapped.url if mapped else None,
            "created_at": created_at and created_at.isoformat(),
            "updated_at": updated_at and updated_at.isoformat(),
            "document_id": self.document_id and str(self.document_id),
        }


@dataclass(frozen=True, slots=True)
class Known:
    """The text of an item that was embedded last."""

    model: str | None
    text_sha256: bytes | None


class RecordEmbedder:
    """Embeds records' texts before the transaction opens; what it leaves out, the queue indexes."""

    def __init__(self, tenants: TenantPool, embeds: Embedders, index: Index) -> None:
        self._cached = CachedEmbedding(tenants, embeds)
        self._embeds = embeds
        self._index = index

    async def embed(
        self, tenant_id: TenantId, job: SyncJob, records: Sequence[Record], known: Mapping[str, Known]
    ) -> tuple[str, int]:
        """Give each record with a short text its vector; returns the model and how many were embedded.

        A text that was embedded before needs none. Raises OverBudget.
        """
        if not any(record.text for record in records):
            return "", 0
        try:
            embedder = await self._embeds.embedder(job.embedder)
            await self._index.require()
        except (EmbedderBusy, EmbedderFailed, EmbedderUnavailable, IndexNotReady) as missing:
            log.info("records_left_to_queue", reason=missing.message)
            return "", 0
        short = self._short(job, embedder, records)
        wanted: dict[bytes, TextToEmbed] = {}
        for record in short:
            before = known.get(record.read.external_id)
            if before is None or (before.model, before.text_sha256) != (embedder.model, record.sha256):
                wanted[record.sha256] = TextToEmbed(record.text or "", record.tokens)
        if not wanted or not self._index.is_in_database:
            return embedder.model, 0
        try:
            found = await self._cached.vectors(tenant_id, job.embedder, embedder, wanted)
        except (EmbedderBusy, EmbedderFailed, EmbedderRefused, EmbedderUnavailable) as down:
            log.info("records_left_to_queue", reason=down.message)
            return embedder.model, 0
        texts = {sha256: as_text(vector) for sha256, vector in _used(found.vectors, wanted)}
        for record in short:
            record.vector = texts.get(record.sha256)
        return embedder.model, found.embedded

    def _short(self, job: SyncJob, embedder: Embedder, records: Sequence[Record]) -> list[Record]:
        """Those whose text fits one chunk, with their tokens counted."""
        most = min(job.chunk_tokens or CHUNK_TOKENS, embedder.max_tokens)
        count = counter(embedder.tokenizer).count
        short = []
        for record in records:
            if record.text and len(record.text) <= most * CHARACTERS_PER_TOKEN:
                record.tokens = count(record.text)
                if record.tokens <= most:
                    short.append(record)
        return short


def _used(vectors: Mapping[bytes, Vector], wanted: Mapping[bytes, TextToEmbed]) -> list[tuple[bytes, Vector]]:
    return [(sha256, vectors[sha256]) for sha256 in wanted]
