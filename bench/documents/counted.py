"""Counts what is asked of the embedders."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from penstock.embed.embedders import Embedders
from penstock.model import Embedder, Vector


@dataclasses.dataclass(slots=True)
class Asked:
    calls: int = 0
    texts: int = 0


class CountedEmbedders(Embedders):
    """Stands in a engine's place of embedders; a run that finds all it needs in the cache asks nothing."""

    def __init__(self, counted: Embedders) -> None:
        self._counted = counted
        self.asked = Asked()

    def taken(self) -> Asked:
        """What was asked since the last look."""
        asked, self.asked = self.asked, Asked()
        return asked

    async def embedder(self, name: str) -> Embedder:
        return await self._counted.embedder(name)

    async def embed(self, name: str, texts: Sequence[str]) -> tuple[Sequence[Vector], int]:
        self.asked.calls += 1
        self.asked.texts += len(texts)
        return await self._counted.embed(name, texts)

    async def embed_query(self, name: str, text: str) -> Vector:
        return await self._counted.embed_query(name, text)

    async def close(self) -> None:
        await self._counted.close()
