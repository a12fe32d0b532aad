"""The brain's wire: POST /internal/embed, which alone knows which model it calls."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final

from pydantic import BaseModel

from penstock.model.embedder import Purpose
from penstock.pipeline.embed.remote.wire import Answer, Call, Model

SECRET_HEADER: Final = "X-Brain-Secret"  # noqa: S105 - a header's name
MAX_TOKENS: Final = 8_191
USUAL_TEXTS: Final = 32


class _Answered(BaseModel):
    embeddings: list[list[float]]
    model: str
    dim: int


@dataclass(frozen=True, slots=True)
class BrainWire:
    """The brain has no purpose to tell and no count of tokens to give."""

    secret: str = field(repr=False)
    batch_size: int = USUAL_TEXTS
    vendor: str = "brain"
    key_variable: str = "PENSTOCK_BRAIN_API_SECRET"
    url_variable: str = "PENSTOCK_BRAIN_URL"
    answers_name_model: bool = True

    def call(self, texts: Sequence[str], purpose: Purpose) -> Call:
        del purpose
        return Call("/internal/embed", {SECRET_HEADER: self.secret}, {"texts": list(texts)})

    def read(self, content: bytes) -> Answer:
        answered = _Answered.model_validate_json(content)
        return Answer(answered.embeddings, model=answered.model, dimensions=answered.dim)


def model_of(name: str | None) -> Model:
    """A name pins the model; without one the first answer does."""
    return Model(name, None, MAX_TOKENS)
