"""How to cut a document: strategy, sizes and the tokeniser that measures them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.errors import InvalidArgument
from penstock.model.pipeline_options import (
    CHUNK_OVERLAP,
    CHUNK_TOKENS,
    SMALLEST_CHUNK,
    STRATEGIES,
    Strategy,
)

CHUNKER_VERSION = 2
"""Raised with every change that cuts the same text differently."""


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """`max_tokens` limits the embedder's input, including headings and overlap, by the named tokeniser."""

    strategy: Strategy = "structure"
    max_tokens: int = CHUNK_TOKENS
    overlap: int = CHUNK_OVERLAP
    tokenizer: str = "llama"
    version: ClassVar[int] = CHUNKER_VERSION

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise InvalidArgument(
                f"there is no chunking strategy {self.strategy!r}",
                "chunk_strategy",
                f"Use one of {', '.join(STRATEGIES)}",
            )
        if self.max_tokens < SMALLEST_CHUNK:
            raise InvalidArgument(
                f"a chunk of {self.max_tokens} tokens is too small",
                "chunk_size",
                f"Use {SMALLEST_CHUNK} tokens or more",
            )
        if not 0 <= self.overlap <= self.max_tokens // 2:
            raise InvalidArgument(
                f"an overlap of {self.overlap} tokens does not fit chunks of {self.max_tokens}",
                "chunk_overlap",
                f"Use 0 to {self.max_tokens // 2}",
            )


def plan_for(
    embedder_max_tokens: int,
    strategy: Strategy | None = None,
    size: int | None = None,
    overlap: int | None = None,
    *,
    tokenizer: str = "llama",
) -> ChunkPlan:
    """By default 512 tokens with 50 overlap, or a little less than the embedder's maximum."""
    if size is None:
        size = (
            CHUNK_TOKENS
            if embedder_max_tokens >= CHUNK_TOKENS
            else embedder_max_tokens - embedder_max_tokens // 11
        )
    if size > embedder_max_tokens:
        raise InvalidArgument(
            f"chunks of {size} tokens do not fit the embedder, which accepts {embedder_max_tokens}",
            "chunk_size",
            f"Use {embedder_max_tokens} or less",
        )
    if overlap is None:
        overlap = min(CHUNK_OVERLAP, size * 4 // 23)
    return ChunkPlan(strategy or "structure", size, overlap, tokenizer)
