"""How chunks are stored in Qdrant: collections, points with dense and sparse vectors, payloads, filters."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID

from qdrant_client import models

from penstock.index.chunk_rows import chunk_id
from penstock.index.vectors import as_floats
from penstock.model import Chunk, Vector

DENSE = "dense"
SPARSE = "text"
PREVIEW = 200
"""Characters of the text in a payload."""


def tenant_prefix(tenant_id: UUID) -> str:
    return f"penstock_{tenant_id.hex}_"


def collection_of(tenant_id: UUID, project_id: UUID, model: str) -> str:
    """One per tenant, project and model: models never mix."""
    return f"{tenant_prefix(tenant_id)}{project_id.hex}_{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def sparse_of(weights: Mapping[str, float]) -> models.SparseVector:
    """Lexemes by hash; the weights of colliding ones are added."""
    summed: dict[int, float] = {}
    for lexeme, weight in weights.items():
        index = zlib.crc32(lexeme.encode())
        summed[index] = summed.get(index, 0.0) + weight
    return models.SparseVector(indices=list(summed), values=list(summed.values()))


def point_of(
    tenant_id: UUID,
    project_id: UUID,
    document_id: UUID,
    generation: int,
    chunk: Chunk,
    vector: Vector,
    weights: Mapping[str, float],
) -> models.PointStruct:
    return models.PointStruct(
        id=str(chunk_id(document_id, generation, chunk.ordinal)),
        vector={DENSE: as_floats(vector), SPARSE: sparse_of(weights)},
        payload={
            "tenantId": str(tenant_id),
            "projectId": str(project_id),
            "documentId": str(document_id),
            "chunkIndex": chunk.ordinal,
            "generation": generation,
            "tokenCount": chunk.token_count,
            "contentPreview": chunk.text[:PREVIEW],
            "pageNumber": chunk.page_from,
            "sectionTitle": chunk.heading_path[-1] if chunk.heading_path else None,
            "isDeleted": False,
            "createdAt": datetime.now(UTC).isoformat(),
        },
    )


def of_document(document_id: UUID, generations: Sequence[int] | None = None) -> models.Filter:
    conditions: list[models.Condition] = [_is("documentId", str(document_id))]
    if generations is not None:
        conditions.append(
            models.FieldCondition(key="generation", match=models.MatchAny(any=list(generations)))
        )
    return models.Filter(must=conditions)


def searchable(document_ids: Sequence[UUID] | None) -> models.Filter:
    """Not marked as deleted and, if a filter leaves few documents, one of them."""
    conditions: list[models.Condition] = [_is("isDeleted", False)]
    if document_ids is not None:
        wanted = models.MatchAny(any=[str(document_id) for document_id in document_ids])
        conditions.append(models.FieldCondition(key="documentId", match=wanted))
    return models.Filter(must=conditions)


def _is(key: str, value: str | bool) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))
