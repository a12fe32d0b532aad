"""Embedders by name, created once per process, each behind one batcher."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from penstock.db import Pool
from penstock.embed.batcher import Batcher
from penstock.embed.registry import make_embedder
from penstock.embed.remote import RemoteEmbedder, budgeted
from penstock.model import Embedder, Vector
from penstock.settings import Settings


class Embedders:
    """Serves ingestion, which embeds in bulk, and searches, whose queries go first."""

    def __init__(self, settings: Settings, pool: Pool) -> None:
        self._settings = settings
        self._pool = pool
        self._batchers: dict[str, tuple[Embedder, Batcher]] = {}
        self._making: dict[str, asyncio.Lock] = {}
        self.gives_way = False
        """Set in processes that ingest documents: their models run at low priority."""

    async def embedder(self, name: str) -> Embedder:
        return (await self._get(name))[0]

    async def embed(self, name: str, texts: Sequence[str]) -> tuple[Sequence[Vector], int]:
        """A vector for each text, and the tokens used."""
        _, batcher = await self._get(name)
        embedded = await batcher.embed(texts)
        return embedded.vectors, embedded.tokens

    async def embed_query(self, name: str, text: str) -> Vector:
        embedder = await self.embedder(name)
        return (await embedder.embed([text], "query")).vectors[0]

    async def close(self) -> None:
        made = list(self._batchers.values())
        self._batchers.clear()
        for _, batcher in made:
            await batcher.close()

    async def _get(self, name: str) -> tuple[Embedder, Batcher]:
        if name not in self._batchers:
            # One lock per embedder: one that does not respond must not block the others.
            async with self._making.setdefault(name, asyncio.Lock()):
                if name not in self._batchers:
                    embedder = await self._make(name)
                    self._batchers[name] = (embedder, Batcher(embedder))
        return self._batchers[name]

    async def _make(self, name: str) -> Embedder:
        made = make_embedder(name, self._settings, gives_way=self.gives_way)
        if isinstance(made, RemoteEmbedder):
            try:
                await made.learn()
            except BaseException:
                await made.close()
                raise
            return budgeted(made, self._pool, self._settings)
        return made
