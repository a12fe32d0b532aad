"""What the API says about sources, as frozen types."""

from __future__ import annotations

from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field

from penstock.client.results import Result


class Health(Result):
    """How a source is; `action` is what its user can do.

    `state` is never_synced, syncing (`seen` of about `expected`), healthy, retrying (`reason`,
    `next_try_at`), needs_you, paused, or receiving for a source that others send to.
    """

    state: str
    reason: str | None = None
    code: str | None = None
    action: str | None = None
    seen: int | None = None
    expected: int | None = None
    next_try_at: datetime | None = None
    synced_at: datetime | None = None
    next_sync_at: datetime | None = None


class Source(Result):
    """Where documents come from; a `paused` source accepts nothing and is not synced."""

    source_id: UUID
    kind: str
    name: str
    project: str
    status: str
    status_message: str | None = None
    account: str | None = None
    health: Health | None = None
    sync_every_seconds: int | None = None
    next_sync_at: datetime | None = None
    synced_at: datetime | None = None
    created_at: datetime
    updated_at: datetime


class StreamState(Result):
    """How far one kind of record was read; `left_out` is what the initial cap excluded."""

    stream: str
    items: int
    left_out: int
    expected: int | None = None
    completed_at: datetime | None = None


class IngestionJob(Result):
    """One sync with its counts; `error_details` are the last failures of items and of runs."""

    job_id: UUID
    kind: str
    status: str
    items_seen: int
    items_written: int
    items_unchanged: int
    items_failed: int
    items_removed: int
    items_left_out: int
    error_code: str | None = None
    error_message: str | None = None
    error_details: list[dict[str, Any]] = Field(default_factory=list)
    started_at: datetime
    finished_at: datetime | None = None


class SourceDetails(Source):
    """A source with its streams and its last syncs, newest first."""

    config: dict[str, Any] = Field(default_factory=dict)
    classifier: str | None = None
    documents: int
    streams: list[StreamState]
    jobs: list[IngestionJob]


class Decision(Result):
    """Why an item or a document was not kept; `stage` 1 is a rule for mail, 2 the classifier."""

    decision_id: UUID
    source_id: UUID | None = None
    source: str | None = None
    stage: int
    name: str
    skip_reason: str
    score: float | None = None
    reasons: tuple[dict[str, Any], ...] = ()
    sender: str | None = None
    subject: str | None = None
    filename: str | None = None
    document_id: UUID | None = None
    decided_at: datetime
    state: str
    """skipped, restoring, restored, or not_restored."""
    reversed_at: datetime | None = None
    reversed_by: str | None = None
    outcome: str | None = None
    outcome_message: str | None = None


class RuleUse(Result):
    """A rule or a class: how it is set, and how often it fired, decided and was reversed."""

    stage: int
    name: str
    about: str
    action: str
    weight: float | None = None
    is_changed: bool
    fired: int
    dropped: int
    reversed: int


class RuleList(Result):
    items: tuple[RuleUse, ...]
    allow_senders: tuple[str, ...] = ()
    block_senders: tuple[str, ...] = ()
