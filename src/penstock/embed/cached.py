"""Embeds texts of a tenant: from its cache where it can, within its budget, and notes the use."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from penstock.db.tenancy import TenantPool
from penstock.model import Embedder, TenantId, Vector

if TYPE_CHECKING:
    from penstock.embed.embedders import Embedders

CACHED = "select text_sha256, embedding from ingest.cached_embeddings($1, $2)"
KEEP = "ingest.keep_embeddings($2, $3, $4, $5)"
NOTE_USAGE = "accounts.note_usage($2, $3, $4, $5, $6)"
BUDGET_LEFT = "select accounts.budget_left()"


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


@dataclass(frozen=True, slots=True)
class Claim:
    """Texts by their hashes: the caller's to embed, and futures for those that another caller is embedding.

    A future ends with None if its text was not embedded; then the caller that waits for it embeds it.
    """

    own: Mapping[bytes, TextToEmbed]
    others: Mapping[bytes, tuple[TextToEmbed, asyncio.Future[Vector | None]]]
    _futures: dict[bytes, asyncio.Future[Vector | None]] = field(default_factory=dict)

    def give(self, found: Mapping[bytes, Vector]) -> None:
        """End the futures of those that wait for the caller's texts. Call it before waiting for `others`,
        who may wait for the caller."""
        for sha256, future in self._futures.items():
            if not future.done():
                future.set_result(found.get(sha256))


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
            with self.claim(tenant_id, embedder.model, left) as claim:
                if claim.own:
                    found, count, used = await self._own(tenant_id, name, embedder, claim)
                    made |= found
                    embedded += count
                    tokens += used
            for sha256, (_, other) in claim.others.items():
                if (vector := await asyncio.shield(other)) is not None:
                    made[sha256] = vector
            left = {sha256: each for sha256, each in left.items() if sha256 not in made}
        reused = (len(wanted) if texts is None else texts) - embedded
        if reused:
            await self.note_usage(tenant_id, embedder, 0, 0, reused)
        return CachedVectors(made, embedded, tokens)

    @contextmanager
    def claim(self, tenant_id: TenantId, model: str, wanted: Mapping[bytes, TextToEmbed]) -> Iterator[Claim]:
        """Within the block, no other caller of this process embeds what the claim calls its own.

        Claim before reading the cache: what others embedded before is there. Leave the block when what was
        embedded is in the cache.
        """
        loop = asyncio.get_running_loop()
        others = {
            sha256: (text, future)
            for sha256, text in wanted.items()
            if (future := self._in_work.get((tenant_id, model, sha256))) is not None
        }
        own = {sha256: each for sha256, each in wanted.items() if sha256 not in others}
        futures: dict[bytes, asyncio.Future[Vector | None]] = {sha256: loop.create_future() for sha256 in own}
        self._in_work.update(((tenant_id, model, sha256), future) for sha256, future in futures.items())
        claim = Claim(own, others, futures)
        try:
            yield claim
        finally:
            for sha256 in futures:
                del self._in_work[tenant_id, model, sha256]
            claim.give({})

    async def keep(
        self,
        tenant_id: TenantId,
        model: str,
        texts: Mapping[bytes, TextToEmbed],
        found: Mapping[bytes, Vector],
    ) -> None:
        """Put embeddings into the cache."""
        await self._tenants.call(
            tenant_id,
            KEEP,
            model,
            list(texts),
            [found[sha256] for sha256 in texts],
            [each.token_count for each in texts.values()],
            durable=False,
        )

    async def note_usage(
        self, tenant_id: TenantId, embedder: Embedder, tokens: int, texts: int, reused: int
    ) -> None:
        """Add to the tenant's day, in a transaction of its own: all documents of a tenant share the row."""
        calls = -(-texts // embedder.batch_size)
        await self._tenants.call(
            tenant_id, NOTE_USAGE, embedder.model, tokens, calls, texts, reused, durable=False
        )

    async def _own(
        self, tenant_id: TenantId, name: str, embedder: Embedder, claim: Claim
    ) -> tuple[dict[bytes, Vector], int, int]:
        """Vectors of the claim's own texts, how many were not cached, and their tokens."""
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            rows = await conn.fetch(CACHED, embedder.model, list(claim.own))
            found = {row["text_sha256"]: Vector(row["embedding"]) for row in rows}
            missing = {sha256: each for sha256, each in claim.own.items() if sha256 not in found}
            check_budget(missing, await conn.fetchval(BUDGET_LEFT) if missing else None)
        tokens = 0
        if missing:
            vectors, tokens = await self._embeds.embed(name, [each.text for each in missing.values()])
            found |= dict(zip(missing, vectors, strict=True))
            await self.keep(tenant_id, embedder.model, missing, found)
            await self.note_usage(tenant_id, embedder, tokens, len(missing), 0)
        claim.give(found)
        return found, len(missing), tokens


def check_budget(texts: Mapping[bytes, TextToEmbed], left: int | None) -> None:
    """Raise OverBudget if the texts need more tokens than are left; None is no limit."""
    needed = sum(each.token_count for each in texts.values())
    if left is not None and needed > left:
        raise OverBudget(needed, left)
