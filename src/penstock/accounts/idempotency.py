"""Stores replies to requests with an idempotency key, so that a repeated request runs only once."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from penstock.accounts.caller import Caller
from penstock.db.tenancy import TenantPool
from penstock.errors import Conflict, InvalidArgument


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Any


class IdempotentReplies:
    """Replies are stored per API key or session: the same header from another one is another request."""

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants

    async def begin(self, caller: Caller, key: str, request_sha256: bytes) -> Reply | None:
        """None: proceed. A reply: already done. Conflict: the first request is still running."""
        async with self._tenants.transaction(caller.tenant_id) as conn:
            row = await conn.fetchval(
                "select accounts.begin_reply($1, $2)", _hash(caller, key), request_sha256
            )
        if row is None:
            return None
        kept = json.loads(row)
        if kept.get("mismatch"):
            raise InvalidArgument(
                "this idempotency key was already used for another request",
                "Idempotency-Key",
                "Use a new key for a new request.",
            )
        if kept.get("in_flight"):
            raise Conflict(
                "the first request with this idempotency key is still running",
                "Idempotency-Key",
                "Wait a moment and send it again.",
            )
        return Reply(kept["status"], kept["body"])

    async def keep(self, caller: Caller, key: str, reply: Reply | None) -> None:
        """Store the reply; None forgets the request, which failed and may be repeated."""
        async with self._tenants.transaction(caller.tenant_id) as conn:
            await conn.execute(
                "select accounts.keep_reply($1, $2, $3)",
                _hash(caller, key),
                None if reply is None else reply.status,
                None if reply is None else json.dumps(reply.body),
            )


def _hash(caller: Caller, key: str) -> bytes:
    return hashlib.sha256(caller.credential_id.bytes + key.encode("utf-8", "surrogatepass")).digest()
