"""Embeds texts of a tenant: from its cache where it can, within its budget, and notes the use."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from penstock.db import Connection
from penstock.db.tenancy import TenantPool
from penstock.model import Embedder, TenantId, Vector

if TYPE_CHECKING:
    from penstock.embed.embedders import Embedders

CACHED = "select text_sha256, embedding from ingest.cached_embeddings($1, $2)"
KEEP = "select ingest.keep_embeddings($1, $2, $3, $4)"
NOTE_USAGE = "select accounts.note_usage($1, $2, $3, $4, $5)"


class OverBudget(Exception):
    """These tokens exceed the tenant's monthly budget; `needed` and `left` are the figures."""

    def __init__(self, needed: int, left: int) -> None:
        super().__init__(needed, left)
        self.needed = needed
        self.left = left


@dataclass(frozen=True, slots=True)
class TextToEmbed:
    text: str
    token_count: int


@dataclass(frozen=True, slots=True)
class CachedVectors:
    """The vectors by the texts' hashes, how many of them had to be embedded, and the tokens that took."""

    vectors: Mapping[bytes, Vector]
    embedded: int
    tokens: int = 0


class CachedEmbedding:
    """Shared by documents, records and clients. Callers that want the same text at once embed it once."""

    def __init__(self, tenants: TenantPool, embeds: Embedders) -> None:
        self._tenants = tenants
        self._embeds = embeds
        self._in_work: dict[tuple[TenantId, str, bytes], asyncio.Future[Vector | None]] = {}

    async def vectors(
        self,
        tenant_id: TenantId,
        name: str,
        embedder: Embedder,
        wanted: Mapping[bytes, TextToEmbed],
        texts: int | None = None,
    ) -> CachedVectors:
        """Vectors of texts by their hashes; `texts` is how many there are if some are the same. Raises
        OverBudget before it spends too much."""
        made: dict[bytes, Vector] = {}
        embedded = tokens = 0
        left = dict(wanted)
        while left:
            # Taken before the cache is read: what another caller has embedded since is in the cache.
            others = {
                sha256: future
                for sha256 in left
                if (future := self._in_work.get((tenant_id, embedder.model, sha256))) is not None
            }
            own = {sha256: each for sha256, each in left.items() if sha256 not in others}
            if own:
                found, count, used = await self._own(tenant_id, name, embedder, own)
                made |= found
                embedded += count
                tokens += used
            for sha256, other in others.items():
                if (vector := await asyncio.shield(other)) is not None:
                    made[sha256] = vector
            left = {sha256: each for sha256, each in left.items() if sha256 not in made}
        reused = (len(wanted) if texts is None else texts) - embedded
        if reused:
            async with self._tenants.transaction(tenant_id, durable=False) as conn:
                await conn.execute(NOTE_USAGE, embedder.model, 0, 0, 0, reused)
        return CachedVectors(made, embedded, tokens)

    async def _own(
        self, tenant_id: TenantId, name: str, embedder: Embedder, wanted: Mapping[bytes, TextToEmbed]
    ) -> tuple[dict[bytes, Vector], int, int]:
        """Vectors of texts that nobody else is embedding, how many were not cached, and their tokens."""
        loop = asyncio.get_running_loop()
        keys = {sha256: (tenant_id, embedder.model, sha256) for sha256 in wanted}
        futures = {sha256: loop.create_future() for sha256 in wanted}
        self._in_work.update((keys[sha256], future) for sha256, future in futures.items())
        found: dict[bytes, Vector] = {}
        try:
            async with self._tenants.transaction(tenant_id, durable=False) as conn:
                rows = await conn.fetch(CACHED, embedder.model, list(wanted))
                found |= {row["text_sha256"]: Vector(row["embedding"]) for row in rows}
                missing = {sha256: each for sha256, each in wanted.items() if sha256 not in found}
                await _check_budget(conn, sum(each.token_count for each in missing.values()))
            tokens = 0
            if missing:
                vectors, tokens = await self._embeds.embed(name, [each.text for each in missing.values()])
                found |= dict(zip(missing, vectors, strict=True))
                async with self._tenants.transaction(tenant_id, durable=False) as conn:
                    await conn.execute(
                        KEEP,
                        embedder.model,
                        list(missing),
                        [found[sha256] for sha256 in missing],
                        [each.token_count for each in missing.values()],
                    )
                    calls = -(-len(missing) // embedder.batch_size)
                    await conn.execute(NOTE_USAGE, embedder.model, tokens, calls, len(missing), 0)
            return found, len(missing), tokens
        finally:
            # A caller that waits for a text that was not embedded embeds it itself.
            for sha256, future in futures.items():
                del self._in_work[keys[sha256]]
                future.set_result(found.get(sha256))


async def _check_budget(conn: Connection, needed: int) -> None:
    if needed == 0:
        return
    left = await conn.fetchval("select accounts.budget_left()")
    if left is not None and needed > left:
        raise OverBudget(needed, left)
