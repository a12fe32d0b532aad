"""The protocol of embedders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NewType, Protocol, TypeAlias

Vector = NewType("Vector", bytes)
"""A normalised embedding as little-endian 16-bit floats."""

Purpose: TypeAlias = Literal["document", "query"]


@dataclass(frozen=True, slots=True)
class Embedded:
    """One vector for each text, in order, and the number of tokens the embedder counted."""

    vectors: tuple[Vector, ...]
    tokens: int


class Embedder(Protocol):
    """Embeds texts with one model. Models never mix: `model` is part of every key."""

    @property
    def model(self) -> str:
        """The id stored with every vector, such as `minilm-l6-v2-int8`."""

    @property
    def dimensions(self) -> int: ...

    @property
    def max_tokens(self) -> int:
        """The longest text it accepts, in tokens of its own tokeniser."""

    @property
    def tokenizer(self) -> str:
        """The name of its tokeniser in `penstock.embed.tokens`."""

    @property
    def batch_size(self) -> int:
        """The maximum number of texts per call."""

    @property
    def is_remote(self) -> bool: ...

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        """Embed up to `batch_size` texts; raises EmbedderBusy, EmbedderFailed, EmbedderRefused."""

    async def close(self) -> None: ...
