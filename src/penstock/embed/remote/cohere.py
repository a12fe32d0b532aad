"""Cohere's wire format: POST /v2/embed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from penstock.embed.remote.wire import EmbedRequest, EmbedResponse, ModelFacts
from penstock.model.embedder import Purpose

DEFAULT_MODEL: Final = "embed-v4.0"
MOST_TEXTS: Final = 96
REQUESTS_PER_MINUTE: Final = 100
_DIMENSIONS: Final = 1_024
_SIZED: Final = "embed-v4"
"""Models whose number of dimensions is set in the request."""

_INPUT_TYPES: Final[dict[Purpose, str]] = {"document": "search_document", "query": "search_query"}


class _Embeddings(BaseModel):
    float: list[list[float]]


class _Billed(BaseModel):
    input_tokens: int | None = None


class _Meta(BaseModel):
    billed_units: _Billed = _Billed()


class _Answered(BaseModel):
    embeddings: _Embeddings
    meta: _Meta = _Meta()


@dataclass(frozen=True, slots=True)
class CohereWire:
    """A text that is too long is rejected, not truncated: otherwise part of a chunk could not be found."""

    model: ModelFacts
    key: str = field(repr=False)
    batch_size: int = MOST_TEXTS
    vendor: str = "cohere"
    key_variable: str = "PENSTOCK_COHERE_API_KEY"
    url_variable: str = "PENSTOCK_COHERE_BASE_URL"
    answers_name_model: bool = False

    def call(self, texts: Sequence[str], purpose: Purpose) -> EmbedRequest:
        assert self.model.name is not None
        body: dict[str, object] = {
            "model": self.model.name,
            "texts": list(texts),
            "input_type": _INPUT_TYPES[purpose],
            "embedding_types": ["float"],
            "truncate": "NONE",
        }
        if self.model.name.startswith(_SIZED):
            body["output_dimension"] = self.model.dimensions
        return EmbedRequest("/v2/embed", {"Authorization": f"Bearer {self.key}"}, body)

    def read(self, content: bytes) -> EmbedResponse:
        answered = _Answered.model_validate_json(content)
        return EmbedResponse(answered.embeddings.float, tokens=answered.meta.billed_units.input_tokens)


def model_of(name: str | None) -> ModelFacts:
    name = name or DEFAULT_MODEL
    if name.startswith(_SIZED):
        return ModelFacts(name, _DIMENSIONS, 128_000)
    # The third generation accepts 512 of its own tokens; we count with another tokeniser.
    return ModelFacts(name, 384 if "light" in name else _DIMENSIONS, 400)
