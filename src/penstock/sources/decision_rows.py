"""Decisions, and the rules and classes behind them, as callers see them."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from penstock.model import DocumentId, SourceId


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Why an item or a document was not kept.

    `stage` 1 is a rule for mail, 2 the classifier; `name` is the rule or the class. `state` is skipped,
    restoring, restored, or not_restored (`outcome` and `outcome_message` say why).
    """

    decision_id: UUID
    source_id: SourceId | None
    source: str | None
    stage: int
    name: str
    skip_reason: str
    score: float | None
    reasons: list[dict[str, Any]]
    sender: str | None
    subject: str | None
    filename: str | None
    external_id: str | None
    document_id: DocumentId | None
    version: str
    decided_at: datetime
    state: str
    reversed_at: datetime | None
    reversed_by: str | None
    outcome: str | None
    outcome_message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DecisionList:
    """`cursor` is given if there are more."""

    items: list[Decision]
    cursor: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleUse:
    """A rule or a class: what it does, how the source has set it, and how often it was right.

    `fired` counts items it applied to, `dropped` those it decided about, `reversed` those a person restored.
    A rule without a `weight` drops by itself. `action` is keep or skip for a class, on or off for a rule.
    """

    stage: int
    name: str
    about: str
    action: Literal["on", "off", "keep", "skip"]
    weight: float | None
    is_changed: bool
    fired: int
    dropped: int
    reversed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleList:
    """The rules and classes, and the senders of `allow_senders` and `block_senders`."""

    items: list[RuleUse]
    allow_senders: list[str]
    block_senders: list[str]
