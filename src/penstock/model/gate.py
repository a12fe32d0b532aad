"""A project's gate and its evaluations, as the database returns them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Literal, TypeAlias
from uuid import UUID

GateMode: TypeAlias = Literal["block", "warn"]
GateState: TypeAlias = Literal["asking", "passed", "failed", "accepted", "cancelled"]


@dataclass(frozen=True, slots=True, kw_only=True)
class WorseQuestion:
    """A question that the new index answers worse, with its nDCG@10 in both."""

    question: str
    before: float
    after: float


@dataclass(frozen=True, slots=True, kw_only=True)
class GateEvaluation:
    """How a project's questions were answered for one re-index: by the live index and by the staged one."""

    evaluation_id: UUID
    project: str
    run_id: UUID
    from_embedder: str
    to_embedder: str
    mode: GateMode
    allowed_loss: float
    state: GateState
    task_id: int | None
    waits_for: str | None
    """Why the questions cannot be asked now."""
    questions: int
    ndcg_before: float | None
    ndcg_after: float | None
    worse: list[WorseQuestion]
    """The first hundred, the worst first."""
    worse_count: int
    better_count: int
    unknown_documents: list[str]
    """Expected documents that the project does not have: their questions count as not answered."""
    created_at: datetime
    evaluated_at: datetime | None
    decided_at: datetime | None
    decided_by: str | None
    """Who accepted or cancelled it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """What a re-index or a switch of the embedder has to pass before it goes live."""

    mode: GateMode
    """`warn`: it goes live in any case once the questions were asked."""
    allowed_loss: float
    """By how much nDCG@10 may fall."""
    questions: int
    set_by: str
    set_at: datetime
    waiting: UUID | None
    """The re-index that waits for it."""
    says: str | None
    """What the re-index waits for, and what to type."""
    evaluation: GateEvaluation | None
    """The newest one."""
