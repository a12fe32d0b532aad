"""Re-indexes of projects: start, follow, stop and resume them."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING, Any, Literal
from uuid import UUID

from penstock.documents.filters import bad_cursor
from penstock.model.gate import GateEvaluation
from penstock.model.rows import row_from

if TYPE_CHECKING:
    from collections.abc import Callable

    from penstock.db.tenancy import TenantPool
    from penstock.model import TenantId

ReindexEngine = Literal["queue", "ray"]

START = "select ingest.start_bulk($1, $2, $3, $4, $5)"
LIST = "select ingest.list_bulk($1, $2)"
SHOW = "select ingest.explain_bulk($1)"
STOP = "select ingest.stop_bulk($1, $2)"
RESUME = "select ingest.resume_bulk($1, $2)"


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardHolder:
    """Who works on a shard now."""

    shard: int
    holder: str
    claim: int
    since: datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexFailure:
    """A document that kept its old version, and why."""

    document_id: UUID
    reason: str
    message: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexRun:
    """A re-index of a project. Its end is estimated from the measured rate, with two standard errors either
    way; costs are in the currency of PENSTOCK_EMBEDDING_PRICE_PER_MILLION_TOKENS, null without that price."""

    run_id: UUID
    tenant: str
    project: str
    embedder: str
    switches: bool
    """The project switches to this embedder when every document is ready."""
    gate: GateEvaluation | None = None
    """How the project's questions were answered, if it has a gate."""
    engine: ReindexEngine
    state: Literal["planning", "running", "done", "stopped", "failed"]
    pass_number: int
    reason: str | None
    """Why it waits, or why it ended."""
    waits_until: datetime | None
    shards: int
    closed_shards: int
    held_shards: int
    documents: int
    done: int
    indexed: int
    newer: int
    """Changed or indexed by themselves meanwhile: they keep the newer version."""
    gone: int
    failed: int
    chunks: int
    embedded: int
    reused: int
    embedded_tokens: int
    documents_per_second: float | None
    eta_seconds: float | None
    eta_low: float | None
    eta_high: float | None
    cost: float | None = None
    """What was spent on embedding so far."""
    cost_estimate: float | None = None
    """What the whole run will have cost, if the rest is like what is done."""
    by: str
    started_at: datetime
    finished_at: datetime | None
    task_id: int | None
    holders: list[ShardHolder] = field(default_factory=list)
    failures: list[ReindexFailure] = field(default_factory=list)
    """The first ten."""
    hint: str | None = None

    @property
    def is_open(self) -> bool:
        return self.finished_at is None

    @property
    def waits_for_a_person(self) -> bool:
        """Its gate holds it back until somebody decides."""
        gate = self.gate
        return self.is_open and gate is not None and gate.state == "failed" and gate.mode == "block"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReindexPage:
    items: list[ReindexRun]
    cursor: str | None


class Reindexes:
    """`check_embedder` raises for an embedder that a project could not be switched to; `price` is that of a
    million tokens."""

    def __init__(
        self,
        tenants: TenantPool,
        check_embedder: Callable[[str], None],
        *,
        price: float | None = None,
        shard_documents: int | None = None,
    ) -> None:
        self._tenants = tenants
        self._check_embedder = check_embedder
        self._price = price
        self._shard_documents = shard_documents

    async def start(
        self,
        tenant_id: TenantId,
        project: str,
        *,
        by: str,
        embedder: str | None = None,
        engine: ReindexEngine = "queue",
        shard_documents: int | None = None,
    ) -> ReindexRun:
        """Start a re-index, or join the one in progress if it does the same."""
        if embedder is not None:
            self._check_embedder(embedder)
        size = shard_documents or self._shard_documents
        return await self._one(tenant_id, START, project, embedder, engine, by, size)

    async def list(self, tenant_id: TenantId, *, cursor: str | None = None, limit: int = 50) -> ReindexPage:
        """Newest first."""
        try:
            before = None if cursor is None else UUID(cursor)
        except ValueError:
            raise bad_cursor() from None
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch(LIST, before, limit + 1)
        found = [self._row(row[0]) for row in rows[:limit]]
        return ReindexPage(items=found, cursor=str(found[-1].run_id) if len(rows) > limit else None)

    async def show(self, tenant_id: TenantId, run_id: UUID) -> ReindexRun:
        return await self._one(tenant_id, SHOW, run_id)

    async def stop(self, tenant_id: TenantId, run_id: UUID, by: str) -> ReindexRun:
        """Stop one: what is published stays, and the rest waits for a resume."""
        return await self._one(tenant_id, STOP, run_id, by)

    async def resume(
        self, tenant_id: TenantId, run_id: UUID, engine: ReindexEngine | None = None
    ) -> ReindexRun:
        """Continue one, or add a driver to one in progress; only what is open is done."""
        return await self._one(tenant_id, RESUME, run_id, engine)

    async def _one(self, tenant_id: TenantId, call: str, *arguments: object) -> ReindexRun:
        async with self._tenants.transaction(tenant_id) as conn:
            return self._row(await conn.fetchval(call, *arguments))

    def _row(self, text: str) -> ReindexRun:
        row: dict[str, Any] = json.loads(text)
        row["pass_number"] = row.pop("pass")
        found = row_from(ReindexRun, row)
        if self._price is None:
            return found
        cost = found.embedded_tokens * self._price / 1_000_000
        whole = cost * found.documents / found.done if found.done else None
        return replace(
            found,
            cost=round(cost, 6),
            cost_estimate=None if whole is None else round(max(cost, whole), 6),
        )
