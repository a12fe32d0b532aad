"""The seam between the index and whoever fills, tends and searches it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Protocol
from uuid import UUID

from penstock.model import Chunk, DocumentId, ProjectId, TenantId, Vector


@dataclass(frozen=True, slots=True)
class Probe:
    """A query as one model sees it."""

    model: str
    vector: Vector
    tokens: int = 0
    """What embedding it took."""


@dataclass(frozen=True, slots=True)
class IndexQuery:
    """What is looked for in these projects, within a filter that ingest.document_filter() reads."""

    text: str | None
    probes: Sequence[Probe]
    project_ids: Sequence[ProjectId]
    filter: str
    depth: int


@dataclass(frozen=True, slots=True)
class Hit:
    """A chunk some index found; whether it is live, the document's row decides."""

    document_id: UUID
    generation: int
    ordinal: int
    model: str
    score: float


def hits_as_json(hits: Sequence[Hit]) -> str:
    """As ingest.live_hits() reads them."""
    return json.dumps([{**asdict(hit), "document_id": str(hit.document_id)} for hit in hits])


@dataclass(frozen=True, slots=True)
class Gathered:
    """What an index outside the database found by vector and by text; None: the database looks itself."""

    near: Sequence[Hit] | None = None
    matched: Sequence[Hit] | None = None


class Index(Protocol):
    """Chunk rows and postings always lie in Postgres; where the vectors lie is the index's own business."""

    async def require(self) -> None:
        """Raise IndexNotReady while no vector can be kept, with what has to be done about it."""

    async def stage(
        self,
        tenant_id: TenantId,
        project_id: ProjectId,
        document_id: DocumentId,
        generation: int,
        chunks: Sequence[Chunk],
        vectors: Sequence[Vector],
        model: str,
    ) -> None:
        """Write chunks of a generation that is not live yet; again, it changes nothing."""

    async def drop(self, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]) -> None:
        """Take back generations that are not live."""

    async def drop_document(self, tenant_id: TenantId, document_id: DocumentId) -> None:
        """Remove all of a deleted document, and its cached embeddings that no other document uses."""

    async def tend(self) -> None:
        """Sweep old generations, count words again where much moved, build or drop vector indexes."""

    async def gather(self, tenant_id: TenantId, query: IndexQuery) -> Gathered:
        """What lies outside the database for this query, best first."""

    async def close(self) -> None: ...
