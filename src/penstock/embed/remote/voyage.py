"""Voyage's wire format: POST /v1/embeddings."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from penstock.embed.remote.wire import EmbedRequest, EmbedResponse, ModelFacts
from penstock.model.embedder import Purpose

DEFAULT_MODEL: Final = "voyage-3.5-lite"
MOST_TEXTS: Final = 1_000
USUAL_TEXTS: Final = 128
_SIZED: Final = frozenset({"voyage-3.5", "voyage-3.5-lite", "voyage-3-large", "voyage-code-3"})
"""Models whose number of dimensions is set in the request."""

_KNOWN: Final = {"voyage-3": 1_024, "voyage-3-lite": 512}
_DIMENSIONS: Final = 1_024
_KNOWN_TOKENS: Final = 32_000
_CAUTIOUS_TOKENS: Final = 4_000


class _Item(BaseModel):
    embedding: str | list[float]
    index: int


class _Usage(BaseModel):
    total_tokens: int | None = None


class _Answered(BaseModel):
    data: list[_Item]
    model: str | None = None
    usage: _Usage = _Usage()


@dataclass(frozen=True, slots=True)
class VoyageWire:
    """A text that is too long is rejected, not truncated: otherwise part of a chunk could not be found."""

    model: ModelFacts
    key: str = field(repr=False)
    batch_size: int = USUAL_TEXTS
    vendor: str = "voyage"
    key_variable: str = "PENSTOCK_VOYAGE_API_KEY"
    url_variable: str = "PENSTOCK_VOYAGE_BASE_URL"
    answers_name_model: bool = True

    def call(self, texts: Sequence[str], purpose: Purpose) -> EmbedRequest:
        body: dict[str, object] = {
            "model": self.model.name,
            "input": list(texts),
            "input_type": purpose,
            "truncation": False,
            "encoding_format": "base64",
        }
        if self.model.name in _SIZED:
            body["output_dimension"] = self.model.dimensions
        return EmbedRequest("/v1/embeddings", {"Authorization": f"Bearer {self.key}"}, body)

    def read(self, content: bytes) -> EmbedResponse:
        answered = _Answered.model_validate_json(content)
        return EmbedResponse(
            [
                base64.b64decode(item.embedding, validate=True)
                if isinstance(item.embedding, str)
                else item.embedding
                for item in answered.data
            ],
            order=[item.index for item in answered.data],
            model=answered.model,
            tokens=answered.usage.total_tokens,
        )


def model_of(name: str | None) -> ModelFacts:
    name = name or DEFAULT_MODEL
    if name in _SIZED or name in _KNOWN:
        return ModelFacts(name, _KNOWN.get(name, _DIMENSIONS), _KNOWN_TOKENS)
    return ModelFacts(name, None, _CAUTIOUS_TOKENS)
