"""Cuts a parsed document into chunks that stay the same where the document stays the same."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.pipeline.chunk.chunker import chunk
    from penstock.pipeline.chunk.plan import CHUNKER_VERSION, ChunkPlan, plan_for

__all__ = ["CHUNKER_VERSION", "ChunkPlan", "chunk", "plan_for"]

__getattr__, __dir__ = lazy(
    __name__,
    {
        "chunker": ["chunk"],
        "plan": ["CHUNKER_VERSION", "ChunkPlan", "plan_for"],
    },
)
