"""The seam between the one remote embedder and each vendor's wire format."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from penstock.model.embedder import Purpose

Numbers: TypeAlias = Sequence[float] | bytes
"""A vector as it came: numbers, or little-endian 32-bit floats."""


@dataclass(frozen=True, slots=True)
class Model:
    """What is known of a model before it was called; None: its first answer tells."""

    name: str | None
    dimensions: int | None
    max_tokens: int


@dataclass(frozen=True, slots=True)
class Call:
    """One request: a path under the vendor's address, headers with the secret, a JSON body."""

    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a vendor answered; `order` is where each vector says it belongs, if it says so."""

    vectors: Sequence[Numbers] = field(repr=False)
    order: Sequence[int] | None = None
    model: str | None = None
    dimensions: int | None = None
    tokens: int | None = None


class Wire(Protocol):
    """How one vendor is asked and how its answers are read."""

    @property
    def vendor(self) -> str:
        """The first part of the model id."""

    @property
    def key_variable(self) -> str: ...

    @property
    def url_variable(self) -> str: ...

    @property
    def batch_size(self) -> int: ...

    @property
    def answers_name_model(self) -> bool:
        """Whether an answer says which model made it; if not, only the request does."""

    def call(self, texts: Sequence[str], purpose: Purpose) -> Call: ...

    def read(self, content: bytes) -> Answer:
        """Read an answer; raises pydantic's ValidationError or ValueError when it is none."""
