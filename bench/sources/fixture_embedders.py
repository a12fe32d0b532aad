"""Embedders whose vectors cost nothing, so that the sync itself is measured."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

import numpy as np

from bench.documents.counted import Asked
from penstock.embed.embedders import Embedders
from penstock.model import Embedder, Vector
from penstock.model.embedder import Embedded, Purpose

DIMENSIONS = 256


class FixtureEmbedder:
    model = "fixture"
    dimensions = DIMENSIONS
    max_tokens = 512
    tokenizer = "llama"
    batch_size = 32
    is_remote = False

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        return Embedded(tuple(map(_vector, texts)), sum(map(len, texts)) // 4)

    async def close(self) -> None: ...


class FixtureEmbedders(Embedders):
    """Stands in an engine's place of embedders and counts the texts it was given."""

    def __init__(self) -> None:
        self._one = FixtureEmbedder()
        self.asked = Asked()

    async def embedder(self, name: str) -> Embedder:
        return self._one

    async def embed(self, name: str, texts: Sequence[str]) -> tuple[Sequence[Vector], int]:
        self.asked.calls += 1
        self.asked.texts += len(texts)
        embedded = await self._one.embed(texts)
        return embedded.vectors, embedded.tokens

    async def close(self) -> None: ...


def _vector(text: str) -> Vector:
    """The same for the same text, spread over all directions."""
    digest = hashlib.shake_256(text.encode()).digest(DIMENSIONS)
    floats = np.frombuffer(digest, dtype=np.int8).astype(np.float32)
    return Vector((floats / np.linalg.norm(floats)).astype("<f2").tobytes())
