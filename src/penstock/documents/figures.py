"""Documents as people look at all of them: counts by status, the stages of the last hour, failures in groups.

A tenant's connection sees its own documents, an operator's all.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal
from uuid import UUID

from penstock.db import Connection
from penstock.model.rows import row_from

StageName = Literal["received", "parsing", "embedding", "indexed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentCounts:
    """`approximate`: a count of more than 100,000 ended there."""

    pending: int
    processing: int
    embedding: int
    indexed: int
    skipped: int
    failed: int
    approximate: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class OldestWaiting:
    document_id: UUID
    name: str | None
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SourceNeeding:
    """A source that needs a person, with what is wrong and what to do."""

    source_id: UUID
    kind: str
    name: str
    sentence: str
    action: str


@dataclass(frozen=True, slots=True, kw_only=True)
class MonthUsage:
    """What embedding cost in this month (UTC)."""

    month: str
    tokens: int
    calls: int
    texts: int
    reused: int
    """Texts whose embedding was already cached."""
    cost: float | None = None
    """In the currency of PENSTOCK_EMBEDDING_PRICE_PER_MILLION_TOKENS; null without that price."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentFigures:
    at: datetime
    documents: DocumentCounts
    oldest_waiting: OldestWaiting | None
    sources_needing: list[SourceNeeding]
    usage: MonthUsage


@dataclass(frozen=True, slots=True, kw_only=True)
class StageMinute:
    at: datetime
    done: int
    failed: int


@dataclass(frozen=True, slots=True, kw_only=True)
class StageFigures:
    """What left a stage within the last hour, minute by minute."""

    stage: StageName
    done: int
    failed: int
    per_minute: float
    p95_seconds: float | None
    history: list[StageMinute]


@dataclass(frozen=True, slots=True, kw_only=True)
class FailedGroup:
    """Failed documents whose errors differ only in ids, numbers and names; `causes` is how many such groups
    were found."""

    fingerprint: str
    reason_code: str | None
    error_message: str | None
    documents: int
    first_at: datetime
    last_at: datetime
    document_id: UUID
    hours: list[int]
    causes: int


class Figures:
    """A connection of a tenant's transaction, or an operator's."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    async def documents(self) -> DocumentFigures:
        found = await self._connection.fetchval("select all_tenants.document_figures()")
        return row_from(DocumentFigures, json.loads(found))

    async def stages(self) -> list[StageFigures]:
        rows = await self._connection.fetch("select * from all_tenants.stage_figures()")
        return [row_from(StageFigures, {**dict(row), "history": json.loads(row["history"])}) for row in rows]

    async def failed_groups(self, fingerprint: str | None = None) -> list[FailedGroup]:
        rows = await self._connection.fetch("select * from all_tenants.failed_groups($1)", fingerprint)
        return [FailedGroup(**dict(row)) for row in rows]

    async def failed_members(self, fingerprint: str, cursor: str | None, limit: int) -> list[dict[str, Any]]:
        rows = await self._connection.fetch(
            "select * from all_tenants.failed_members($1, $2, $3)", fingerprint, cursor, limit
        )
        return [dict(row) for row in rows]

    async def run_versions(self, document_id: UUID, task_id: int) -> dict[int, dict[str, str]]:
        """The parser and model of each attempt of a document's task that came that far."""
        rows = await self._connection.fetch(
            "select * from all_tenants.run_versions($1, $2)", document_id, task_id
        )
        return {
            row["attempt"]: {name: row[name] for name in ("parser", "model") if row[name] is not None}
            for row in rows
        }
