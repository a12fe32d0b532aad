"""The protocol of search indexes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol
from uuid import UUID

from penstock.model import Chunk, DocumentId, ProjectId, TenantId, Vector


@dataclass(frozen=True, slots=True)
class QueryVector:
    """A query embedded by one model."""

    model: str
    vector: Vector
    tokens: int = 0
    """Tokens used to embed it."""
    is_respelt: bool = False
    """Whether misspelt words of the query were corrected first."""


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What is looked for in these projects, within a filter that search.document_filter() reads."""

    text: str | None
    probes: Sequence[QueryVector]
    project_ids: Sequence[ProjectId]
    filter: str
    depth: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk found by an index; the document's row decides whether it is live."""

    document_id: UUID
    generation: int
    ordinal: int
    model: str
    score: float


def hits_as_json(hits: Sequence[Hit]) -> str:
    """As search.live_hits() reads them."""
    return json.dumps([{**asdict(hit), "document_id": str(hit.document_id)} for hit in hits])


@dataclass(frozen=True, slots=True)
class Gathered:
    """Hits of an external index by vector and by text; None: the database searches itself."""

    near: Sequence[Hit] | None = None
    matched: Sequence[Hit] | None = None


class Index(Protocol):
    """Chunk rows and postings are always in Postgres; each index decides where the vectors are."""

    @property
    def is_in_database(self) -> bool:
        """Whether vectors can be written by the transaction that writes the rows."""

    async def require(self) -> None:
        """Raise IndexNotReady, with the remedy, while vectors cannot be stored."""

    async def stage(
        self,
        tenant_id: TenantId,
        project_id: ProjectId,
        document_id: DocumentId,
        generation: int,
        chunks: Sequence[Chunk],
        vectors: Sequence[Vector],
        model: str,
        title: str | None = None,
        language: str | None = None,
    ) -> None:
        """Write chunks of a generation that is not live yet, of a document with this title and language;
        idempotent."""

    async def drop(self, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]) -> None:
        """Delete generations that are not live."""

    async def drop_document(self, tenant_id: TenantId, document_id: DocumentId) -> None:
        """Remove all of a deleted document, and its cached embeddings that no other document uses."""

    async def maintain(self) -> None:
        """Delete old generations, recount words where much changed, build or drop vector indexes."""

    async def gather(self, tenant_id: TenantId, query: IndexQuery) -> Gathered:
        """Hits from outside the database for this query, best first."""

    async def close(self) -> None: ...
