"""The gates of projects: set, show and remove them, and decide about what waits there."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from penstock.model.gate import Gate, GateEvaluation, GateMode
from penstock.model.rows import row_from_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from penstock.db.tenancy import TenantPool
    from penstock.model import TenantId

SET = "select ingest.set_gate($1, $2, $3, $4, $5)"
SHOW = "select ingest.show_gate($1)"
REMOVE = "select ingest.remove_gate($1)"
ACCEPT = "select ingest.accept_gate($1, $2)"
CANCEL = "select ingest.cancel_gate($1, $2)"
EVALUATIONS = "select ingest.list_evaluations($1, $2)"

MOST_QUESTIONS = 10_000


class Gates:
    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def set(
        self,
        tenant_id: TenantId,
        project: str,
        *,
        by: str,
        questions: Sequence[tuple[str, Sequence[str]]] | None = None,
        mode: GateMode | None = None,
        allowed_loss: float | None = None,
    ) -> Gate:
        """Give a project a gate or change it; None keeps what it has. What waits is judged again."""
        listed = (
            None
            if questions is None
            else json.dumps([{"question": text, "documents": list(names)} for text, names in questions])
        )
        return row_from_json(Gate, await self._value(tenant_id, SET, project, listed, mode, allowed_loss, by))

    async def show(self, tenant_id: TenantId, project: str) -> Gate:
        return row_from_json(Gate, await self._value(tenant_id, SHOW, project))

    async def remove(self, tenant_id: TenantId, project: str) -> Gate:
        """Remove it with its questions; what waits goes live. The gate as it was."""
        return row_from_json(Gate, await self._value(tenant_id, REMOVE, project))

    async def accept(self, tenant_id: TenantId, project: str, by: str) -> GateEvaluation:
        """Let what waits go live in any case."""
        return row_from_json(GateEvaluation, await self._value(tenant_id, ACCEPT, project, by))

    async def cancel(self, tenant_id: TenantId, project: str, by: str) -> GateEvaluation:
        """Stop what waits and remove what it staged; the project stays as it is."""
        return row_from_json(GateEvaluation, await self._value(tenant_id, CANCEL, project, by))

    async def evaluations(self, tenant_id: TenantId, project: str, limit: int = 50) -> list[GateEvaluation]:
        """Newest first, also those of a gate that was removed."""
        async with self._tenants.transaction(tenant_id) as conn:
            rows = await conn.fetch(EVALUATIONS, project, limit)
        return [row_from_json(GateEvaluation, row[0]) for row in rows]

    async def _value(self, tenant_id: TenantId, call: str, *arguments: object) -> str:
        async with self._tenants.transaction(tenant_id) as conn:
            return str(await conn.fetchval(call, *arguments))
