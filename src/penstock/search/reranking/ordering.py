"""Puts hits into the order of a reranker, within a time limit; if it fails, they stay as they were."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from time import monotonic
from uuid import UUID

from penstock.errors import RerankerFailed
from penstock.observe import get_logger
from penstock.search.answer import SearchHit
from penstock.search.reranking.protocol import Reranked, Reranker

log = get_logger(__name__)

LONGEST_REST = 30.0
LONGEST_PASSAGE = 8_000


class Reranking:
    """A reranker that failed is not asked for a moment, so that not every search waits for it."""

    def __init__(self, reranker: Reranker, *, passages: int, seconds: float) -> None:
        self._reranker = reranker
        self.passages = passages
        """How many of the best hits are sent."""
        self._seconds = seconds
        self._rests_until = 0.0

    @property
    def model(self) -> str:
        return self._reranker.model

    async def ordered(
        self, query: str, hits: Sequence[SearchHit], per_document: int
    ) -> tuple[list[SearchHit], Reranked | None]:
        """The hits in the order of their new scores, and what it took; unchanged and None if it failed."""
        if not hits:
            return [], Reranked((), 0, 0)
        if self._rests_until > monotonic():
            return list(hits), None
        sent, rest = hits[: self.passages], hits[self.passages :]
        limit = asyncio.timeout(self._seconds)
        try:
            async with limit:
                reranked = await self._reranker.rerank(query, [passage_of(hit) for hit in sent])
        except TimeoutError:
            if not limit.expired():
                raise
            self._failed(f"it did not answer in {self._seconds:g} s", None)
            return list(hits), None
        except RerankerFailed as failed:
            self._failed(failed.reason, failed.retry_after)
            return list(hits), None
        scored = [
            hit.model_copy(update={"rerank_score": score})
            for hit, score in zip(sent, reranked.scores, strict=True)
        ]
        best_first = sorted(scored, key=lambda hit: -(hit.rerank_score or 0.0))
        return _spread([*best_first, *rest], per_document), reranked

    def _failed(self, reason: str, retry_after: float | None) -> None:
        rest = min(LONGEST_REST, 5.0 if retry_after is None else retry_after)
        self._rests_until = monotonic() + rest
        log.throttled("search_degraded", every=10, reranker=self.model, reason=reason)


def passage_of(hit: SearchHit) -> str:
    """What the reranker reads of a hit: title, headings and text."""
    above = [hit.title or hit.filename, *hit.heading_path]
    lines = dict.fromkeys(line for line in above if line)
    return "\n".join([*lines, hit.text])[:LONGEST_PASSAGE]


def _spread(hits: Sequence[SearchHit], per_document: int) -> list[SearchHit]:
    """Every document shows `per_document` passages before any shows a further one."""
    shown: Counter[UUID | None] = Counter()
    first: list[SearchHit] = []
    further: list[SearchHit] = []
    for hit in hits:
        place = hit.document_id or hit.client_id
        shown[place] += 1
        (first if shown[place] <= per_document else further).append(hit)
    return first + further
