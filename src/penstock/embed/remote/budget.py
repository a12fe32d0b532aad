"""Keeps all workers together within a remote embedder's limits of requests and tokens per minute."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Sequence
from datetime import timedelta
from typing import Final

from penstock.db import Pool
from penstock.db.connect import translated
from penstock.embed.remote.cohere import REQUESTS_PER_MINUTE
from penstock.embed.remote.embedder import RemoteEmbedder, estimate_tokens
from penstock.model.embedder import Embedded, Embedder, Purpose, Vector
from penstock.settings import Settings

_MINUTE: Final = timedelta(minutes=1)
_SHORTEST_WAIT: Final = 0.01


def budgeted(embedder: RemoteEmbedder, pool: Pool, settings: Settings) -> Embedder:
    """The embedder with the budget from the settings; unchanged if there is none."""
    requests = settings.embedding_requests_per_minute
    if requests is None and embedder.vendor == "cohere":
        requests = REQUESTS_PER_MINUTE
    tokens = settings.embedding_tokens_per_minute
    if requests is None and tokens is None:
        return embedder
    return Budgeted(embedder, pool, requests_per_minute=requests, tokens_per_minute=tokens)


class Budgeted:
    """Takes from the queue's rate limiter before each call and waits if necessary.

    The key is the model id, so all workers on one database share one budget. A burst of a tenth of a
    minute's budget is allowed; a call with more tokens is split into several.
    """

    def __init__(
        self,
        embedder: RemoteEmbedder,
        pool: Pool,
        *,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
    ) -> None:
        self._embedder = embedder
        self._pool = pool
        self._requests = requests_per_minute
        self._tokens = tokens_per_minute

    @property
    def model(self) -> str:
        return self._embedder.model

    @property
    def dimensions(self) -> int:
        return self._embedder.dimensions

    @property
    def max_tokens(self) -> int:
        return self._embedder.max_tokens

    @property
    def tokenizer(self) -> str:
        return self._embedder.tokenizer

    @property
    def batch_size(self) -> int:
        return self._embedder.batch_size

    @property
    def is_remote(self) -> bool:
        return True

    async def learn(self) -> None:
        await self._embedder.learn()

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        await self._embedder.learn()  # the key needs the model's id
        vectors: list[Vector] = []
        tokens = 0
        for part in self._parts(texts):
            await self._spend("tokens", self._tokens, estimate_tokens(part))
            await self._spend("requests", self._requests, 1)
            embedded = await self._embedder.embed(part, purpose)
            vectors += embedded.vectors
            tokens += embedded.tokens
        return Embedded(tuple(vectors), tokens)

    async def close(self) -> None:
        await self._embedder.close()

    def _parts(self, texts: Sequence[str]) -> Iterator[Sequence[str]]:
        if self._tokens is None or len(texts) > self.batch_size:  # too many: left to the embedder to reject
            if texts:
                yield texts
            return
        part: list[str] = []
        for text in texts:
            if part and estimate_tokens([*part, text]) > _burst(self._tokens):
                yield part
                part = []
            part.append(text)
        if part:
            yield part

    async def _spend(self, kind: str, per_minute: int | None, amount: int) -> None:
        if per_minute is None:
            return
        burst = _burst(per_minute)
        while True:
            with translated():
                wait: timedelta = await self._pool.fetchval(
                    "select queues.spend($1, $2, $3, $4, $5)",
                    f"{self.model} {kind}",
                    per_minute,
                    _MINUTE,
                    burst,
                    min(amount, burst),  # one long text may exceed the bucket: then it takes all of it
                )
            if not wait:
                return
            await asyncio.sleep(max(wait.total_seconds(), _SHORTEST_WAIT))


def _burst(per_minute: int) -> int:
    return max(1, per_minute // 10)
