"""The protocol of rerankers, and of the wire formats of those called over HTTP."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol


@dataclass(frozen=True, slots=True)
class Reranked:
    """A score for each passage, in the order they were given, and the tokens and calls it took."""

    scores: tuple[float, ...]
    tokens: int
    calls: int = 1


class Reranker(Protocol):
    @property
    def model(self) -> str:
        """The vendor and the model, as counted in the usage."""

    async def rerank(self, query: str, passages: Sequence[str]) -> Reranked:
        """How well each passage answers the query; raises RerankerFailed."""

    async def close(self) -> None: ...


@dataclass(frozen=True, slots=True)
class RerankRequest:
    """One request: a path under the address, headers with the secret, a JSON body."""

    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class RerankResponse:
    """Places of passages in the request with their scores, in any order; tokens, if they are named."""

    scores: Sequence[tuple[int, float]]
    tokens: int | None = None


class RerankWire(Protocol):
    """How to build requests for a reranker and read its responses."""

    @property
    def model(self) -> str: ...

    @property
    def most_passages(self) -> int:
        """What one request may hold; more are sent in several."""

    def call(self, query: str, passages: Sequence[str]) -> RerankRequest: ...

    def read(self, content: bytes) -> RerankResponse:
        """Parse a response; raises ValueError, as pydantic does, if it is invalid."""
