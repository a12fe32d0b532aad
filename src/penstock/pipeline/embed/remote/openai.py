"""OpenAI's wire, which many servers speak: POST /embeddings."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from penstock.model.embedder import Purpose
from penstock.pipeline.embed.remote.wire import Answer, Call, Model, Numbers

DEFAULT_MODEL: Final = "text-embedding-3-small"
DEFAULT_URL: Final = "https://api.openai.com/v1"
MOST_TEXTS: Final = 2_048
USUAL_TEXTS: Final = 128
_SHORTENED: Final = "text-embedding-3-"
"""Models that are told how many dimensions they answer with."""

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
    """A server of one's own may need no key."""

    model: Model
    key: str | None = field(repr=False)
    batch_size: int = USUAL_TEXTS
    vendor: str = "openai"
    key_variable: str = "PENSTOCK_OPENAI_API_KEY"
    url_variable: str = "PENSTOCK_OPENAI_BASE_URL"
    answers_name_model: bool = True

    def call(self, texts: Sequence[str], purpose: Purpose) -> Call:
        del purpose  # these models know none
        assert self.model.name is not None
        # Base64 is a quarter of the bytes, and parsing it costs nothing; who ignores the wish sends numbers.
        body: dict[str, object] = {
            "model": self.model.name,
            "input": list(texts),
            "encoding_format": "base64",
        }
        if self.model.name.startswith(_SHORTENED) and self.model.dimensions is not None:
            body["dimensions"] = self.model.dimensions
        headers = {} if self.key is None else {"Authorization": f"Bearer {self.key}"}
        return Call("/embeddings", headers, body)

    def read(self, content: bytes) -> Answer:
        answered = _Answered.model_validate_json(content)
        order = [at if item.index is None else item.index for at, item in enumerate(answered.data)]
        usage = answered.usage
        return Answer(
            [_numbers(item.embedding) for item in answered.data],
            order=order,
            model=answered.model,
            tokens=usage.prompt_tokens if usage.total_tokens is None else usage.total_tokens,
        )


def model_of(name: str | None) -> Model:
    name = name or DEFAULT_MODEL
    if name in _KNOWN:
        return Model(name, _KNOWN[name], _KNOWN_TOKENS)
    return Model(name, None, _CAUTIOUS_TOKENS)


def _numbers(embedding: str | list[float]) -> Numbers:
    return base64.b64decode(embedding, validate=True) if isinstance(embedding, str) else embedding
