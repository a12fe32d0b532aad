"""The brain's wire format: POST /internal/embed; the brain chooses the model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from penstock.embed.remote.wire import EmbedRequest, EmbedResponse, ModelFacts
from penstock.model.embedder import Purpose

SECRET_HEADER: Final = "X-Brain-Secret"  # noqa: S105 - a header's name
MAX_TOKENS: Final = 8_191
USUAL_TEXTS: Final = 32


class _Answered(BaseModel):
    embeddings: list[list[float]]
    model: str
    dim: int


@dataclass(frozen=True, slots=True)
class BrainWire:
    """The brain takes no purpose and returns no token count."""

    secret: str = field(repr=False)
    batch_size: int = USUAL_TEXTS
    vendor: str = "brain"
    key_variable: str = "PENSTOCK_BRAIN_API_SECRET"
    url_variable: str = "PENSTOCK_BRAIN_URL"
    answers_name_model: bool = True

    def call(self, texts: Sequence[str], purpose: Purpose) -> EmbedRequest:
        del purpose
        return EmbedRequest("/internal/embed", {SECRET_HEADER: self.secret}, {"texts": list(texts)})

    def read(self, content: bytes) -> EmbedResponse:
        answered = _Answered.model_validate_json(content)
        return EmbedResponse(answered.embeddings, model=answered.model, dimensions=answered.dim)


def model_of(name: str | None) -> ModelFacts:
    """A name pins the model; without one, the first response does."""
    return ModelFacts(name, None, MAX_TOKENS)
