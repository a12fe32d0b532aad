"""The protocol of vendors' wire formats."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol, TypeAlias

from penstock.model.embedder import Purpose

Numbers: TypeAlias = Sequence[float] | bytes
"""A vector as received: numbers, or little-endian 32-bit floats."""


@dataclass(frozen=True, slots=True)
class ModelFacts:
    """What is known about a model before it is called; None is learned from the first response."""

    name: str | None
    dimensions: int | None
    max_tokens: int


@dataclass(frozen=True, slots=True)
class EmbedRequest:
    """One request: a path under the vendor's address, headers with the secret, a JSON body."""

    path: str
    headers: Mapping[str, str] = field(repr=False)
    body: Mapping[str, object] = field(repr=False)


@dataclass(frozen=True, slots=True)
class EmbedResponse:
    """A vendor's response; `order` has each vector's index, if the vendor sends it."""

    vectors: Sequence[Numbers] = field(repr=False)
    order: Sequence[int] | None = None
    model: str | None = None
    dimensions: int | None = None
    tokens: int | None = None


class Wire(Protocol):
    """How to build requests for a vendor and read its responses."""

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
        """Whether responses name the model."""

    def call(self, texts: Sequence[str], purpose: Purpose) -> EmbedRequest: ...

    def read(self, content: bytes) -> EmbedResponse:
        """Parse a response; raises pydantic's ValidationError or ValueError if it is invalid."""
