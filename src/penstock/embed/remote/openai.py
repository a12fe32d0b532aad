"""OpenAI's wire format, which many servers implement: POST /embeddings."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from penstock.embed.remote.wire import EmbedRequest, EmbedResponse, ModelFacts, Numbers
from penstock.model.embedder import Purpose

DEFAULT_MODEL: Final = "text-embedding-3-small"
DEFAULT_URL: Final = "https://api.openai.com/v1"
MOST_TEXTS: Final = 2_048
USUAL_TEXTS: Final = 128
_SHORTENED: Final = "text-embedding-3-"
"""Models whose number of dimensions is set in the request."""

_KNOWN: Final = {
    "text-embedding-3-small": 1_536,
    "text-embedding-3-large": 3_072,
    "text-embedding-ada-002": 1_536,
}
_KNOWN_TOKENS: Final = 8_191
_CAUTIOUS_TOKENS: Final = 512


class _Item(BaseModel):
    embedding: str | list[float]
    index: int | None = None


class _Usage(BaseModel):
    total_tokens: int | None = None
    prompt_tokens: int | None = None


class _Answered(BaseModel):
    data: list[_Item]
    model: str | None = None
    usage: _Usage = _Usage()


@dataclass(frozen=True, slots=True)
class OpenAIWire:
    """The key is optional, for self-hosted servers."""

    model: ModelFacts
    key: str | None = field(repr=False)
    batch_size: int = USUAL_TEXTS
    vendor: str = "openai"
    key_variable: str = "PENSTOCK_OPENAI_API_KEY"
    url_variable: str = "PENSTOCK_OPENAI_BASE_URL"
    answers_name_model: bool = True

    def call(self, texts: Sequence[str], purpose: Purpose) -> EmbedRequest:
        del purpose  # these models have none
        assert self.model.name is not None
        # Base64 is a quarter of the size and cheap to parse; servers that ignore this send numbers.
        body: dict[str, object] = {
            "model": self.model.name,
            "input": list(texts),
            "encoding_format": "base64",
        }
        if self.model.name.startswith(_SHORTENED) and self.model.dimensions is not None:
            body["dimensions"] = self.model.dimensions
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        return EmbedRequest("/embeddings", headers, body)

    def read(self, content: bytes) -> EmbedResponse:
        answered = _Answered.model_validate_json(content)
        order = [at if item.index is None else item.index for at, item in enumerate(answered.data)]
        usage = answered.usage
        return EmbedResponse(
            [_numbers(item.embedding) for item in answered.data],
            order=order,
            model=answered.model,
            tokens=usage.prompt_tokens if usage.total_tokens is None else usage.total_tokens,
        )


def model_of(name: str | None) -> ModelFacts:
    name = name or DEFAULT_MODEL
    if name in _KNOWN:
        return ModelFacts(name, _KNOWN[name], _KNOWN_TOKENS)
    return ModelFacts(name, None, _CAUTIOUS_TOKENS)


def _numbers(embedding: str | list[float]) -> Numbers:
    return base64.b64decode(embedding, validate=True) if isinstance(embedding, str) else embedding
