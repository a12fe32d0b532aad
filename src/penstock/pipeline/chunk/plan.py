"""How a document is to be cut: strategy, sizes and the tokeniser that measures them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal, TypeAlias, get_args

from penstock.errors import InvalidArgument

CHUNKER_VERSION = 1
"""Raised with every change that cuts the same text differently."""

Strategy: TypeAlias = Literal["structure", "paragraph", "sentence", "fixed"]

SIZE = 512
OVERLAP = 50
SMALLEST = 16  # one character can take five tokens; below this a heading and a word no longer fit


@dataclass(frozen=True, slots=True)
class ChunkPlan:
    """`max_tokens` bounds what the embedder reads, headings and overlap included, by the named tokeniser."""

    strategy: Strategy = "structure"
    max_tokens: int = SIZE
    overlap: int = OVERLAP
    tokenizer: str = "llama"
    version: ClassVar[int] = CHUNKER_VERSION

    def __post_init__(self) -> None:
        if self.strategy not in get_args(Strategy):
            raise InvalidArgument(
                f"there is no chunking strategy {self.strategy!r}",
                "chunk_strategy",
                f"Use one of {', '.join(get_args(Strategy))}",
            )
        if self.max_tokens < SMALLEST:
            raise InvalidArgument(
                f"a chunk of {self.max_tokens} tokens is too small",
                "chunk_size",
                f"Use {SMALLEST} tokens or more",
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
    """512 tokens with 50 overlap where the embedder takes them, else a little less than it takes."""
    if size is None:
        size = SIZE if embedder_max_tokens >= SIZE else embedder_max_tokens - embedder_max_tokens // 11
    if size > embedder_max_tokens:
        raise InvalidArgument(
            f"chunks of {size} tokens do not fit the embedder, which reads {embedder_max_tokens}",
            "chunk_size",
            f"Use {embedder_max_tokens} or less",
        )
    if overlap is None:
        overlap = min(OVERLAP, size * 4 // 23)
    return ChunkPlan(strategy or "structure", size, overlap, tokenizer)
