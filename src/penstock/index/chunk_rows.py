"""Writes and deletes chunk rows and postings, which every index keeps in Postgres."""

from __future__ import annotations

import json
from collections.abc import Sequence
from uuid import UUID, uuid5

from penstock.db.tenancy import TenantPool
from penstock.model import Chunk, DocumentId, TenantId

BATCH = 500
"""Chunks per transaction."""

STAGE = """
ingest.stage_chunks($2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18)"""
DROP = "select ingest.drop_generation($1, $2)"
ERASE = "select ingest.erase_chunks($1)"


def chunk_id(document_id: UUID, generation: int, ordinal: int) -> UUID:
    """Deterministic, so that writing a chunk twice has no effect."""
    return uuid5(document_id, f"{generation}/{ordinal}")


async def stage_rows(
    tenants: TenantPool,
    tenant_id: TenantId,
    document_id: DocumentId,
    generation: int,
    chunks: Sequence[Chunk],
    model: str,
    embeddings: Sequence[str] | None,
    title: str | None = None,
    language: str | None = None,
) -> None:
    """Write one batch; without embeddings the vectors are stored elsewhere."""
    columns = columns_of(document_id, generation, chunks, embeddings)
    await tenants.call(
        tenant_id, STAGE, document_id, generation, model, *columns, title, language, durable=False
    )


def columns_of(
    document_id: UUID, generation: int, chunks: Sequence[Chunk], embeddings: Sequence[str] | None
) -> tuple[object, ...]:
    """What ingest.stage_chunks() takes of each chunk, from `_ordinals` to `_headings`."""
    return (
        [chunk.ordinal for chunk in chunks],
        [chunk_id(document_id, generation, chunk.ordinal) for chunk in chunks],
        [chunk.text for chunk in chunks],
        [chunk.token_count for chunk in chunks],
        [chunk.start for chunk in chunks],
        [chunk.end for chunk in chunks],
        [chunk.page_from for chunk in chunks],
        [chunk.page_to for chunk in chunks],
        json.dumps([list(chunk.heading_path) for chunk in chunks]),
        [chunk.input_sha256 for chunk in chunks],
        None if embeddings is None else list(embeddings),
        json.dumps([[[each.start, *each.path] for each in chunk.headings] for chunk in chunks]),
    )


async def drop_rows(
    tenants: TenantPool, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]
) -> None:
    async with tenants.transaction(tenant_id) as connection:
        for generation in generations:
            await connection.execute(DROP, document_id, generation)


async def erase_rows(tenants: TenantPool, tenant_id: TenantId, document_id: DocumentId) -> None:
    async with tenants.transaction(tenant_id) as connection:
        await connection.execute(ERASE, document_id)
