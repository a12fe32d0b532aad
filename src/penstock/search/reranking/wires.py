"""The wire formats of rerankers: Cohere, Voyage, and text-embeddings-inference (TEI)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel, TypeAdapter

from penstock.search.reranking.protocol import RerankRequest, RerankResponse

COHERE_MODEL: Final = "rerank-v3.5"
VOYAGE_MODEL: Final = "rerank-2.5"
_MOST_PASSAGES: Final = 1_000
_TEI_PASSAGES: Final = 32
"""What the server accepts in one request by default (--max-client-batch-size)."""


class _Result(BaseModel):
    index: int
    relevance_score: float


class _CohereAnswer(BaseModel):
    results: list[_Result]


class _Usage(BaseModel):
    total_tokens: int | None = None


class _VoyageAnswer(BaseModel):
    data: list[_Result]
    usage: _Usage = _Usage()


class _TeiResult(BaseModel):
    index: int
    score: float


_TEI_ANSWER: Final = TypeAdapter(list[_TeiResult])


@dataclass(frozen=True, slots=True)
class CohereRerank:
    """POST /v2/rerank. Long passages are cut by the vendor; it bills searches and names no tokens."""

    name: str
    key: str = field(repr=False)
    most_passages: int = _MOST_PASSAGES

    @property
    def model(self) -> str:
        return f"cohere:{self.name}"

    def call(self, query: str, passages: Sequence[str]) -> RerankRequest:
        body = {"model": self.name, "query": query, "documents": list(passages), "top_n": len(passages)}
        return RerankRequest("/v2/rerank", _bearer(self.key), body)

    def read(self, content: bytes) -> RerankResponse:
        answered = _CohereAnswer.model_validate_json(content)
        return RerankResponse([(each.index, each.relevance_score) for each in answered.results])


@dataclass(frozen=True, slots=True)
class VoyageRerank:
    """POST /v1/rerank."""

    name: str
    key: str = field(repr=False)
    most_passages: int = _MOST_PASSAGES

    @property
    def model(self) -> str:
        return f"voyage:{self.name}"

    def call(self, query: str, passages: Sequence[str]) -> RerankRequest:
        body = {"model": self.name, "query": query, "documents": list(passages), "truncation": True}
        return RerankRequest("/v1/rerank", _bearer(self.key), body)

    def read(self, content: bytes) -> RerankResponse:
        answered = _VoyageAnswer.model_validate_json(content)
        scores = [(each.index, each.relevance_score) for each in answered.data]
        return RerankResponse(scores, answered.usage.total_tokens)


@dataclass(frozen=True, slots=True)
class TeiRerank:
    """POST /rerank of a server of your own; a key only if it asks for one."""

    key: str | None = field(default=None, repr=False)
    most_passages: int = _TEI_PASSAGES
    model: str = "tei"

    def call(self, query: str, passages: Sequence[str]) -> RerankRequest:
        body = {"query": query, "texts": list(passages), "truncate": True, "raw_scores": False}
        return RerankRequest("/rerank", _bearer(self.key) if self.key else {}, body)

    def read(self, content: bytes) -> RerankResponse:
        return RerankResponse([(each.index, each.score) for each in _TEI_ANSWER.validate_json(content)])


def _bearer(key: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {key}"}
