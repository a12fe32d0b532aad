"""The index inside Postgres, by pgvector: exact for small tenants, an HNSW index for each large one."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.db.tenancy import TenantPool
from penstock.index.chunk_rows import BATCH, drop_rows, erase_rows, stage_rows
from penstock.index.counts import maintain_counts
from penstock.index.protocol import Gathered, IndexQuery
from penstock.index.vectors import as_text
from penstock.model import Chunk, DocumentId, ProjectId, TenantId, Vector

SWEEP = "select all_tenants.sweep_generations($1)"
SWEEP_STEP = 20
PREPARE = "select all_tenants.prepare_vectors()"
MAINTAIN = "select all_tenants.tend_vector_indexes($1)"


class PgvectorIndex:
    def __init__(self, tenants: TenantPool, exact_search_chunks: int = 50_000) -> None:
        self._tenants = tenants
        self._exact_search_chunks = exact_search_chunks
        self._is_ready = False

    @property
    def is_in_database(self) -> bool:
        return True

    async def require(self) -> None:
        if not self._is_ready:
            async with self._tenants.all_tenants() as connection:
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
        title: str | None = None,
        language: str | None = None,
    ) -> None:
        for start in range(0, len(chunks), BATCH):
            batch = slice(start, start + BATCH)
            embeddings = [as_text(vector) for vector in vectors[batch]]
            await stage_rows(
                self._tenants,
                tenant_id,
                document_id,
                generation,
                chunks[batch],
                model,
                embeddings,
                title,
                language,
            )

    async def drop(self, tenant_id: TenantId, document_id: DocumentId, generations: Sequence[int]) -> None:
        await drop_rows(self._tenants, tenant_id, document_id, generations)

    async def drop_document(self, tenant_id: TenantId, document_id: DocumentId) -> None:
        await erase_rows(self._tenants, tenant_id, document_id)

    async def maintain(self) -> None:
        async with self._tenants.all_tenants() as connection:
            while await connection.fetchval(SWEEP, SWEEP_STEP) == SWEEP_STEP:
                pass  # each step is its own transaction
        await maintain_counts(self._tenants)
        async with self._tenants.all_tenants() as connection:
            await connection.execute(MAINTAIN, self._exact_search_chunks)

    async def gather(self, tenant_id: TenantId, query: IndexQuery) -> Gathered:
        return Gathered()  # nothing is outside the database

    async def close(self) -> None:
        """The pool belongs to the caller."""
