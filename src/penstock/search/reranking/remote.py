"""A reranker over HTTP: sends passages in a vendor's wire format and validates the scores."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import ValidationError

from penstock.errors import RerankerFailed
from penstock.errors.invalid_field import first_invalid
from penstock.net import AddressRefused, ResponseRefused, retry_after
from penstock.search.reranking.protocol import Reranked, RerankRequest, RerankWire

if TYPE_CHECKING:
    import httpx2


class RemoteReranker:
    def __init__(self, wire: RerankWire, client: httpx2.AsyncClient, address: str) -> None:
        self._wire = wire
        self._client = client
        self._address = address.rstrip("/")

    @property
    def model(self) -> str:
        return self._wire.model

    async def rerank(self, query: str, passages: Sequence[str]) -> Reranked:
        scores: list[float] = []
        tokens = calls = 0
        for start in range(0, len(passages), self._wire.most_passages):
            part = passages[start : start + self._wire.most_passages]
            content = await self._post(self._wire.call(query, part))
            found, used = self._read(content, len(part))
            scores += found
            tokens += _estimate(query, part) if used is None else used
            calls += 1
        return Reranked(tuple(scores), tokens, calls)

    async def close(self) -> None:
        await self._client.aclose()

    async def _post(self, call: RerankRequest) -> bytes:
        """The body of a 200 response. What was sent, and what the vendor says about it, is not repeated."""
        import httpx2

        try:
            response = await self._client.post(
                self._address + call.path, headers=call.headers, json=call.body
            )
        except (AddressRefused, ResponseRefused, httpx2.InvalidURL) as refused:
            raise RerankerFailed(self.model, str(refused)) from refused
        except httpx2.HTTPError as error:
            raise RerankerFailed(self.model, f"no answer ({type(error).__name__})") from error
        if response.status_code != 200:
            raise RerankerFailed(
                self.model, f"it answered {response.status_code}", retry_after(response.headers)
            )
        return response.content

    def _read(self, content: bytes, count: int) -> tuple[list[float], int | None]:
        try:
            answer = self._wire.read(content)
        except ValidationError as invalid:  # its text would contain the response
            place = ".".join(map(str, first_invalid(invalid).path[:2])) or "body"
            raise RerankerFailed(self.model, f"its response is invalid: {place}") from None
        places = dict(answer.scores)
        if len(answer.scores) != count or places.keys() != set(range(count)):
            raise RerankerFailed(self.model, f"it scored {len(places)} of {count} passages")
        scores = [places[place] for place in range(count)]
        if not all(map(math.isfinite, scores)):
            raise RerankerFailed(self.model, "a score is not a finite number")
        return scores, answer.tokens


def _estimate(query: str, passages: Sequence[str]) -> int:
    """The query is read with each passage."""
    asked = len(query.encode()) // 4 + 1
    return sum(len(passage.encode()) // 4 + 1 + asked for passage in passages)
