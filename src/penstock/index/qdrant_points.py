"""How chunks are stored in Qdrant: names of collections, points with dense and sparse vectors, conditions."""

from __future__ import annotations

import hashlib
import re
import zlib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from uuid import UUID, uuid5

from qdrant_client import models

from penstock.index.vectors import as_floats
from penstock.model import Chunk, Vector

DENSE = "dense"
SPARSE = "text"
TENANT = "tenantId"


def collection_of(model: str) -> str:
    """One per model, whose vectors all have one size; tenants are told apart by the payload."""
    readable = re.sub(r"[^a-z0-9]+", "-", model.lower())[:40].strip("-")
    return f"penstock_{readable}_{hashlib.sha256(model.encode()).hexdigest()[:8]}"


def point_id(tenant_id: UUID, document_id: UUID, generation: int, ordinal: int) -> str:
    """Deterministic, so that writing twice has no effect; the tenant is part of it, so that no tenant can
    overwrite a point of another, whatever ids it sends."""
    return str(uuid5(tenant_id, f"{document_id}/{generation}/{ordinal}"))


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
    """No text: Qdrant's files keep deleted payloads until a segment is rewritten, if it ever is."""
    return models.PointStruct(
        id=point_id(tenant_id, document_id, generation, chunk.ordinal),
        vector={DENSE: as_floats(vector), SPARSE: sparse_of(weights)},
        payload={
            TENANT: str(tenant_id),
            "projectId": str(project_id),
            "documentId": str(document_id),
            "chunkIndex": chunk.ordinal,
            "generation": generation,
            "tokenCount": chunk.token_count,
            "pageNumber": chunk.page_from,
            "isDeleted": False,
            "createdAt": datetime.now(UTC).isoformat(),
        },
    )


def of_tenant(tenant_id: UUID) -> models.FieldCondition:
    return _is(TENANT, str(tenant_id))


def of_document(document_id: UUID, generations: Sequence[int] | None = None) -> list[models.Condition]:
    conditions: list[models.Condition] = [_is("documentId", str(document_id))]
    if generations is not None:
        conditions.append(_any("generation", list(generations)))
    return conditions


def of_projects(project_ids: Sequence[UUID]) -> models.FieldCondition:
    return _any("projectId", [str(project_id) for project_id in project_ids])


def of_documents(document_ids: Sequence[UUID]) -> models.FieldCondition:
    return _any("documentId", [str(document_id) for document_id in document_ids])


def not_deleted() -> models.FieldCondition:
    return _is("isDeleted", False)


def _is(key: str, value: str | bool) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchValue(value=value))


def _any(key: str, values: list[str] | list[int]) -> models.FieldCondition:
    return models.FieldCondition(key=key, match=models.MatchAny(any=values))
