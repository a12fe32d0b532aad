"""What somebody changed over HTTP: a row before the request is carried out, completed afterwards."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final, Literal
from uuid import UUID

from penstock.accounts.caller import Caller, Role
from penstock.db.storable import storable_text
from penstock.model import uuid7
from penstock.model.rows import row_from_json

if TYPE_CHECKING:
    from penstock.db import Connection

_LONGEST_TARGET: Final = 1_000
"""Characters: a command may name any number of documents."""
_BEGIN: Final = {
    True: "select all_tenants.begin_audit($1, $2, $3, $4, $5, $6, $7, $8, $9)",
    False: "select accounts.begin_audit($1, $2, $3, $4, $5, $6, $7, $8, $9)",
}
_END: Final = {
    True: "select all_tenants.end_audit($1, $2, $3)",
    False: "select accounts.end_audit($1, $2, $3)",
}
"""By whether it is about the installation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AuditRow:
    """`status` is the response's; None if the request never ended."""

    audit_id: UUID
    at: datetime
    who: str
    role: Role
    via: Literal["key", "session"]
    tenant: str | None
    action: str
    target: str | None
    status: int | None
    detail: dict[str, Any]
    request_id: str


async def begin_audit(
    conn: Connection,
    caller: Caller,
    *,
    action: str,
    target: str | None,
    request_id: str,
    status: int | None = None,
    detail: Mapping[str, Any] | None = None,
) -> UUID:
    """Note what the caller is about to do, or what was refused with this status."""
    audit_id = uuid7()
    await conn.execute(
        _BEGIN[caller.tenant is None],
        audit_id,
        caller.name,
        caller.role,
        caller.via,
        action,
        None if target is None else storable_text(target[:_LONGEST_TARGET]),
        status,
        json.dumps(dict(detail or {})),
        request_id,
    )
    return audit_id


async def end_audit(
    conn: Connection, caller: Caller, audit_id: UUID, status: int, detail: Mapping[str, Any]
) -> None:
    await conn.execute(_END[caller.tenant is None], audit_id, status, json.dumps(dict(detail)))


async def list_audit(
    conn: Connection,
    *,
    of_installation: bool,
    tenant: str | None = None,
    who: str | None = None,
    action: str | None = None,
    before: UUID | None = None,
    limit: int = 50,
) -> list[AuditRow]:
    """Newest first; for the installation: of all tenants and none, or of one."""
    if of_installation:
        rows = await conn.fetch(
            "select all_tenants.list_audit($1, $2, $3, $4, $5)", tenant, who, action, before, limit
        )
    else:
        rows = await conn.fetch("select accounts.list_audit($1, $2, $3, $4)", who, action, before, limit)
    return [row_from_json(AuditRow, row[0]) for row in rows]
