"""Gives chunks their vectors, from the tenant's cache where it has them, and stages them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.model import Chunk, Embedder, TenantId, Vector
from penstock.pipeline.job import Job
from penstock.pipeline.ports import Embeds, Indexes

STEP = 500
"""Chunks embedded and staged at a time: what a run holds in memory and loses when its worker dies."""

CACHED = "select text_sha256, embedding from ingest.cached_embeddings($1, $2)"
KEEP = "select ingest.keep_embeddings($1, $2, $3, $4)"
NOTE_USAGE = "select accounts.note_usage($1, $2, $3, $4, $5)"


class OverBudget(Exception):
    """The tenant's month has no room for these tokens; `needed` and `left` say by how much."""

    def __init__(self, needed: int, left: int) -> None:
        super().__init__(needed, left)
        self.needed = needed
        self.left = left


@dataclass(slots=True)
class Counts:
    """What a run embedded and what it found in the cache."""

    chunks: int = 0
    tokens: int = 0
    embedded: int = 0
    reused: int = 0


class ChunkEmbedder:
    """Shared by all runs of a worker."""

    def __init__(self, tenants: TenantPool, embeds: Embeds, index: Indexes) -> None:
        self._tenants = tenants
        self._embeds = embeds
        self._index = index

    async def require_index(self) -> None:
        """Raise IndexNotReady before any work is done that could not be kept."""
        await self._index.require()

    async def stage(
        self, tenant_id: TenantId, job: Job, embedder: Embedder, chunks: Sequence[Chunk], counts: Counts
    ) -> None:
        """Embed and stage some chunks of the job's generation, and add them to its counts; raises OverBudget
        before it spends too much."""
        counts.chunks += len(chunks)
        counts.tokens += sum(chunk.token_count for chunk in chunks)
        for start in range(0, len(chunks), STEP):
            step = chunks[start : start + STEP]
            vectors = await self._vectors(tenant_id, job.embedder, embedder, step, counts)
            await self._index.stage(
                tenant_id,
                job.project_id,
                job.document_id,
                job.generation,
                step,
                [vectors[chunk.input_sha256] for chunk in step],
                embedder.model,
            )

    async def _vectors(
        self, tenant_id: TenantId, name: str, embedder: Embedder, chunks: Sequence[Chunk], counts: Counts
    ) -> dict[bytes, Vector]:
        wanted = {chunk.input_sha256: chunk for chunk in chunks}
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            rows = await conn.fetch(CACHED, embedder.model, list(wanted))
            found = {row["text_sha256"]: Vector(row["embedding"]) for row in rows}
            missing = [chunk for sha256, chunk in wanted.items() if sha256 not in found]
            await _check_budget(conn, sum(chunk.token_count for chunk in missing))
        reused = len(chunks) - len(missing)
        counts.reused += reused
        tokens = 0
        if missing:
            vectors, tokens = await self._embeds.embed(name, [chunk.embedder_input for chunk in missing])
            found |= {chunk.input_sha256: vector for chunk, vector in zip(missing, vectors, strict=True)}
            counts.embedded += len(missing)
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            if missing:
                await conn.execute(
                    KEEP,
                    embedder.model,
                    [chunk.input_sha256 for chunk in missing],
                    [found[chunk.input_sha256] for chunk in missing],
                    [chunk.token_count for chunk in missing],
                )
            calls = -(-len(missing) // embedder.batch_size)
            await conn.execute(NOTE_USAGE, embedder.model, tokens, calls, len(missing), reused)
        return found


async def _check_budget(conn: Connection, needed: int) -> None:
    if needed == 0:
        return
    left = await conn.fetchval("select accounts.budget_left()")
    if left is not None and needed > left:
        raise OverBudget(needed, left)
