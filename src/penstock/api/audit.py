"""What was changed, by whom and when: the audit of a tenant, or of the whole installation."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated
from uuid import UUID

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict

from penstock.accounts.audit import AuditRow, list_audit
from penstock.api.acting import acting
from penstock.api.guarded import GuardedRoute
from penstock.api.session import AnyAdmin

router = APIRouter(route_class=GuardedRoute, tags=["Account"], prefix="/v1")


class AuditList(BaseModel):
    model_config = ConfigDict(frozen=True)

    items: Sequence[AuditRow]
    cursor: str | None


@router.get("/audit", operation_id="listAudit")
async def audit(
    request: Request,
    caller: AnyAdmin,
    who: Annotated[str | None, Query(max_length=200, description="Part of a name.")] = None,
    action: Annotated[
        str | None, Query(max_length=200, description="Part of an action, such as DELETE or /v1/keys.")
    ] = None,
    tenant: Annotated[
        str | None, Query(max_length=63, description="Only this tenant's; for the installation.")
    ] = None,
    cursor: Annotated[UUID | None, Query(description="The `cursor` of the previous page.")] = None,
    limit: Annotated[int, Query(ge=1, le=1_000, description="Maximum items per page.")] = 50,
) -> AuditList:
    """List what was changed and by whom, newest first; `status` is null for a request that never ended."""
    async with acting(request) as conn:
        rows = await list_audit(
            conn,
            of_installation=caller.tenant is None,
            tenant=tenant,
            who=who or None,
            action=action or None,
            before=cursor,
            limit=limit,
        )
    return AuditList(items=rows, cursor=str(rows[-1].audit_id) if len(rows) == limit else None)
