"""Embeds chunks, using the tenant's cache, and stages them in the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.db.tenancy import TenantPool
from penstock.embed.cached import CachedEmbedding, TextToEmbed
from penstock.model import Chunk, Embedder, TenantId
from penstock.pipeline.job import Job

if TYPE_CHECKING:
    from penstock.embed.embedders import Embedders
    from penstock.index import Index
    from penstock.pipeline.parsed_files import ParsedHead

STEP = 500
"""Chunks embedded and staged at a time: what a run holds in memory and loses if its worker dies."""


@dataclass(slots=True)
class EmbeddingCounts:
    """What a run embedded and what it found in the cache."""

    chunks: int = 0
    tokens: int = 0
    embedded: int = 0
    reused: int = 0
    embedded_tokens: int = 0
    """As the embedder counts them, for the cost."""


class ChunkEmbedder:
    """Shared by all runs of a worker."""

    def __init__(self, tenants: TenantPool, embeds: Embedders, index: Index) -> None:
        self.cached = CachedEmbedding(tenants, embeds)
        self._index = index

    @property
    def is_in_database(self) -> bool:
        """Whether a transaction that publishes a document can write its vectors, too."""
        return self._index.is_in_database

    async def require_index(self) -> None:
        """Raise IndexNotReady before doing work that could not be stored."""
        await self._index.require()

    async def stage(
        self,
        tenant_id: TenantId,
        job: Job,
        embedder: Embedder,
        chunks: Sequence[Chunk],
        counts: EmbeddingCounts,
        about: ParsedHead | None = None,
    ) -> None:
        """Embed and stage some chunks of the job's generation, and add them to its counts; raises OverBudget
        before it spends too much."""
        counts.chunks += len(chunks)
        counts.tokens += sum(chunk.token_count for chunk in chunks)
        for start in range(0, len(chunks), STEP):
            step = chunks[start : start + STEP]
            wanted = {
                chunk.input_sha256: TextToEmbed(chunk.embedder_input, chunk.token_count) for chunk in step
            }
            found = await self.cached.vectors(tenant_id, job.embedder, embedder, wanted, len(step))
            counts.embedded += found.embedded
            counts.reused += len(step) - found.embedded
            counts.embedded_tokens += found.tokens
            await self._index.stage(
                tenant_id,
                job.project_id,
                job.document_id,
                job.generation,
                step,
                [found.vectors[chunk.input_sha256] for chunk in step],
                embedder.model,
                None if about is None else about.title,
                None if about is None else about.language,
            )
