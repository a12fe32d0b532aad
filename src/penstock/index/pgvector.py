"""The index inside Postgres, by pgvector: exact for small tenants, an HNSW index for each large one."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.db.tenancy import TenantPool
from penstock.index.chunk_rows import BATCH, drop_rows, erase_rows, stage_rows
from penstock.index.counts import tend_counts
from penstock.index.protocol import Gathered, IndexQuery
from penstock.index.vectors import as_text
from penstock.model import Chunk, DocumentId, ProjectId, TenantId, Vector

SWEEP = "select keeping.sweep_generations($1)"
SWEEP_STEP = 20
PREPARE = "select keeping.prepare_vectors()"
TEND = "select keeping.tend_vector_indexes($1)"


class PgvectorIndex:
    def __init__(self, tenants: TenantPool, exact_search_chunks: int = 50_000) -> None:
        self._tenants = tenants
        self._exact_search_chunks = exact_search_chunks
        self._is_ready = False

    async def require(self) -> None:
        if not self._is_ready:
            async with self._tenants.everyone() as connection:
                await connection.execute(PREPARE)
            self._is_ready = True

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
        for start in range(0, len(chunks), BATCH):
            batch = slice(start, start + BATCH)
            embeddings = [as_text(vector) for vector in vectors[batch]]
            await stage_rows(
                self._tenants, tenant_id, document_id, generation, chunks[batch], model, embeddings
            )

    async def drop(self, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]) -> None:
        await drop_rows(self._tenants, tenant_id, document_id, generations)

    async def drop_document(self, tenant_id: TenantId, document_id: DocumentId) -> None:
        await erase_rows(self._tenants, tenant_id, document_id)

    async def tend(self) -> None:
        async with self._tenants.everyone() as connection:
            while await connection.fetchval(SWEEP, SWEEP_STEP) == SWEEP_STEP:
                pass  # each step is a transaction of its own
        await tend_counts(self._tenants)
        async with self._tenants.everyone() as connection:
            await connection.execute(TEND, self._exact_search_chunks)

    async def gather(self, tenant_id: TenantId, query: IndexQuery) -> Gathered:
        return Gathered()  # nothing lies outside the database

    async def close(self) -> None:
        """The pool belongs to whoever gave it."""
