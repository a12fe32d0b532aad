"""Embeds texts of a tenant: from its cache where it can, within its budget, and notes the use."""

from __future__ import annotations

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
    """The vectors by the texts' hashes, and how many of them had to be embedded."""

    vectors: Mapping[bytes, Vector]
    embedded: int


class CachedEmbedding:
    """Shared by documents, records and clients."""

    def __init__(self, tenants: TenantPool, embeds: Embedders) -> None:
        self._tenants = tenants
        self._embeds = embeds

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
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            rows = await conn.fetch(CACHED, embedder.model, list(wanted))
            found = {row["text_sha256"]: Vector(row["embedding"]) for row in rows}
            missing = {sha256: each for sha256, each in wanted.items() if sha256 not in found}
            await _check_budget(conn, sum(each.token_count for each in missing.values()))
        tokens = 0
        if missing:
            made, tokens = await self._embeds.embed(name, [each.text for each in missing.values()])
            found |= dict(zip(missing, made, strict=True))
        reused = (len(wanted) if texts is None else texts) - len(missing)
        async with self._tenants.transaction(tenant_id, durable=False) as conn:
            if missing:
                await conn.execute(
                    KEEP,
                    embedder.model,
                    list(missing),
                    [found[sha256] for sha256 in missing],
                    [each.token_count for each in missing.values()],
                )
            calls = -(-len(missing) // embedder.batch_size)
            await conn.execute(NOTE_USAGE, embedder.model, tokens, calls, len(missing), reused)
        return CachedVectors(found, len(missing))


async def _check_budget(conn: Connection, needed: int) -> None:
    if needed == 0:
        return
    left = await conn.fetchval("select accounts.budget_left()")
    if left is not None and needed > left:
        raise OverBudget(needed, left)
