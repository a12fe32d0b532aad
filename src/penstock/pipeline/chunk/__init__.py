"""Cuts a parsed document into chunks that stay the same where the document stays the same."""

from __future__ import annotations

from penstock.pipeline.chunk.chunker import chunk
from penstock.pipeline.chunk.plan import CHUNKER_VERSION, ChunkPlan, Strategy, plan_for

__all__ = ["CHUNKER_VERSION", "ChunkPlan", "Strategy", "chunk", "plan_for"]
