"""The SQL calls of a re-index: plan it, claim a shard, work on it, close it, end the run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal
from uuid import UUID

from penstock.db.tenancy import TenantPool
from penstock.model import DocumentId, TenantId

PLAN = "select ingest.plan_bulk($1, $2)"
ENQUEUE = "select ingest.enqueue_shards($1)"
OPEN = "select shard, held_seconds from ingest.open_shards($1, $2, $3)"
CLAIM = "select ingest.claim_shard($1, $2, $3, $4)"
BEAT = "select ingest.beat_shard($1, $2, $3, $4)"
RELEASE = "select ingest.release_shard($1, $2, $3, $4, $5)"
DOCUMENTS = "select document_id, losses from ingest.shard_documents($1, $2, $3, $4)"
BEGIN = "select ingest.begin_bulk_document($1, $2, $3, $4, $5)"
END = "select ingest.end_bulk_document($1, $2, $3, $4, $5, $6, $7, $8)"
CLOSE = "select ingest.close_shard($1, $2, $3)"
FINISH = "select ingest.end_bulk($1, $2)"
FAIL = "select ingest.fail_bulk($1, $2)"
HAND_OVER = "select ingest.resume_bulk($1, 'queue')"

RunState = Literal["running", "plan", "waiting", "done", "stopped", "failed"]
"""What ingest.end_bulk() says about a run."""


@dataclass(frozen=True, slots=True)
class OpenShard:
    shard: int
    held_seconds: float
    """For how long somebody else holds it; 0: nobody does."""


@dataclass(frozen=True, slots=True)
class HeldShard:
    """A shard that was claimed. The token fences every call: after another claim they raise LeaseLost."""

    tenant_id: TenantId
    run_id: UUID
    shard: int
    token: int

    @property
    def key(self) -> tuple[UUID, int, int]:
        return (self.run_id, self.shard, self.token)


class BulkCalls:
    def __init__(self, tenants: TenantPool, code_version: str) -> None:
        self._tenants = tenants
        self._code_version = code_version

    async def plan(self, tenant_id: TenantId, run_id: UUID) -> int:
        """Plan the next shards; 0 when every document has one."""
        return int(await self._value(tenant_id, PLAN, run_id, self._code_version))

    async def enqueue(self, tenant_id: TenantId, run_id: UUID) -> int:
        """Enqueue a task for each shard that has none."""
        return int(await self._value(tenant_id, ENQUEUE, run_id))

    async def open_shards(
        self, tenant_id: TenantId, run_id: UUID, taken: Sequence[int], limit: int
    ) -> Sequence[OpenShard]:
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch(OPEN, run_id, list(taken), limit)
        return [OpenShard(row["shard"], row["held_seconds"] or 0.0) for row in rows]

    async def claim(
        self, tenant_id: TenantId, run_id: UUID, shard: int, holder: str, seconds: float
    ) -> dict[str, Any]:
        answer = json.loads(await self._value(tenant_id, CLAIM, run_id, shard, holder, seconds))
        return dict(answer)

    async def beat(self, held: HeldShard, seconds: float) -> bool:
        """Extend the lease; False: stop working on it."""
        return bool(await self._value(held.tenant_id, BEAT, *held.key, seconds))

    async def release(self, held: HeldShard, reason: str | None, seconds: float | None) -> None:
        await self._value(held.tenant_id, RELEASE, *held.key, reason, seconds)

    async def documents(self, held: HeldShard) -> Sequence[tuple[DocumentId, int]]:
        """Documents without an outcome, with how often each was begun and lost."""
        async with self._tenants.transaction(held.tenant_id) as conn:
            rows = await conn.fetch(DOCUMENTS, *held.key, self._code_version)
        return [(DocumentId(row["document_id"]), row["losses"]) for row in rows]

    async def begin(self, held: HeldShard, document_id: DocumentId) -> dict[str, Any]:
        async with self._tenants.transaction(held.tenant_id, durable=False) as conn:
            answer = json.loads(await conn.fetchval(BEGIN, *held.key, document_id, self._code_version))
        return dict(answer)

    async def end(
        self,
        held: HeldShard,
        document_id: DocumentId,
        generation: int,
        *,
        facts: str | None = None,
        code: str | None = None,
        message: str | None = None,
    ) -> None:
        """Note that a document is staged, or why it failed."""
        async with self._tenants.transaction(held.tenant_id, durable=False) as conn:
            await conn.execute(END, *held.key, document_id, generation, facts, code, message)

    async def close(self, held: HeldShard) -> dict[str, int]:
        """Publish what was staged; raises LeaseLost if another worker has the shard."""
        answer = json.loads(await self._value(held.tenant_id, CLOSE, *held.key))
        return dict(answer)

    async def finish(self, tenant_id: TenantId, run_id: UUID) -> RunState:
        """End the run if every shard is closed; otherwise say what it waits for."""
        state: RunState = await self._value(tenant_id, FINISH, run_id, self._code_version)
        return state

    async def fail(self, tenant_id: TenantId, run_id: UUID, reason: str) -> None:
        await self._value(tenant_id, FAIL, run_id, reason)

    async def hand_over(self, tenant_id: TenantId, run_id: UUID) -> None:
        """Leave the rest of a run in progress to the workers."""
        await self._value(tenant_id, HAND_OVER, run_id)

    async def _value(self, tenant_id: TenantId, call: str, *arguments: object) -> Any:
        async with self._tenants.transaction(tenant_id) as conn:
            return await conn.fetchval(call, *arguments)
