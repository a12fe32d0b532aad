"""Indexes a document whose chunks fit in one batch with two calls of the database: one before its texts are
embedded, and one that publishes it and ends its task."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.db.tenancy import TenantPool
from penstock.embed.cached import Claim, TextToEmbed, check_budget
from penstock.index.chunk_rows import columns_of
from penstock.index.vectors import as_text
from penstock.model import Chunk, Embedder, Vector
from penstock.pipeline.embedding import ChunkEmbedder, EmbeddingCounts
from penstock.pipeline.job import Job
from penstock.pipeline.outages import Outages
from penstock.pipeline.parsed_files import ParsedHead
from penstock.pipeline.steps import facts_of
from penstock.queue.task_run import TaskRun

if TYPE_CHECKING:
    from penstock.embed.embedders import Embedders

START = "ingest.start_batch($2, $3, $4, $5, $6, $7)"
PUBLISH = """
select
  ingest.publish_run(
    $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, $26,
    $27, $28, $29),
  queues.complete_here($2, $3, $4)
from (select set_config('penstock.tenant_id', $1::uuid::text, true)) as tenant
"""


@dataclass(frozen=True, slots=True)
class _Made:
    """The vectors of all texts; which of them were embedded for this document, and the tokens that took."""

    vectors: Mapping[bytes, Vector]
    embedded: Mapping[bytes, TextToEmbed]
    tokens: int
    elsewhere: int = 0
    """Texts that another caller should have embedded, and that were then embedded and noted on their own."""
    elsewhere_tokens: int = 0

    @property
    def count(self) -> int:
        return len(self.embedded) + self.elsewhere


class OneBatch:
    """Shared by all runs of a worker."""

    def __init__(
        self,
        tenants: TenantPool,
        embeds: Embedders,
        chunk_embedder: ChunkEmbedder,
        outages: Outages,
        code_version: str,
    ) -> None:
        self._tenants = tenants
        self._embeds = embeds
        self._cached = chunk_embedder.cached
        self._outages = outages
        self._code_version = code_version

    async def index(
        self,
        job: Job,
        run: TaskRun,
        embedder: Embedder,
        chunks: Sequence[Chunk],
        head: ParsedHead,
        *,
        detail: str,
        decision: str | None,
    ) -> None:
        """Embed the chunks, publish the document and complete the run's task; nothing if it was deleted.

        Raises OverBudget before it spends too much. If publishing fails, what was embedded is kept.
        """
        wanted = {
            chunk.input_sha256: TextToEmbed(chunk.embedder_input, chunk.token_count) for chunk in chunks
        }
        with self._cached.claim(job.tenant_id, embedder.model, wanted) as claim:
            going, left, sha256s, embeddings = await self._tenants.call(
                job.tenant_id,
                START,
                job.document_id,
                job.generation,
                detail,
                decision,
                embedder.model,
                list(claim.own),
                durable=False,
            )
            if not going:
                return
            cached = dict(zip(sha256s or (), map(Vector, embeddings or ()), strict=True))
            made = await self._embed(job, embedder, claim, cached, left)
            try:
                if job.is_probe and made.embedded:
                    await self._outages.end(job.embedder)
                await self._cached.note_usage(
                    job.tenant_id, embedder, made.tokens, len(made.embedded), len(chunks) - made.count
                )
                await self._publish(job, run, embedder, chunks, head, made)
            except BaseException:  # also when it is cancelled: embedding may have cost money
                if made.embedded:
                    await self._cached.keep(job.tenant_id, embedder.model, made.embedded, made.vectors)
                raise

    async def _embed(
        self,
        job: Job,
        embedder: Embedder,
        claim: Claim,
        cached: Mapping[bytes, Vector],
        left: int | None,
    ) -> _Made:
        missing = {sha256: each for sha256, each in claim.own.items() if sha256 not in cached}
        check_budget(missing, left)
        vectors, tokens = dict(cached), 0
        if missing:
            found, tokens = await self._embeds.embed(job.embedder, [each.text for each in missing.values()])
            vectors |= zip(missing, found, strict=True)
        claim.give(vectors)
        lacking: dict[bytes, TextToEmbed] = {}
        for sha256, (text, other) in claim.others.items():
            if (vector := await asyncio.shield(other)) is None:
                lacking[sha256] = text
            else:
                vectors[sha256] = vector
        if not lacking:
            return _Made(vectors, missing, tokens)
        rest = await self._cached.vectors(job.tenant_id, job.embedder, embedder, lacking)
        return _Made({**vectors, **rest.vectors}, missing, tokens, rest.embedded, rest.tokens)

    async def _publish(
        self,
        job: Job,
        run: TaskRun,
        embedder: Embedder,
        chunks: Sequence[Chunk],
        head: ParsedHead,
        made: _Made,
    ) -> None:
        counts = EmbeddingCounts(
            chunks=len(chunks),
            tokens=sum(chunk.token_count for chunk in chunks),
            embedded=made.count,
            reused=len(chunks) - made.count,
            embedded_tokens=made.tokens + made.elsewhere_tokens,
        )
        await run.complete_by(
            self._tenants,
            PUBLISH,
            job.document_id,
            job.generation,
            job.mode,
            bytes.fromhex(job.content_sha256),
            job.pipeline,
            facts_of(job, head, counts, embedder),
            self._code_version,
            embedder.model,
            list(made.embedded),
            [made.vectors[sha256] for sha256 in made.embedded],
            [each.token_count for each in made.embedded.values()],
            *columns_of(
                job.document_id,
                job.generation,
                chunks,
                [as_text(made.vectors[chunk.input_sha256]) for chunk in chunks],
            ),
            head.title,
            head.language,
        )
