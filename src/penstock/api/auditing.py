"""Audits every request that changes something: a row before it is carried out, completed afterwards."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from types import TracebackType
from typing import TYPE_CHECKING, Any, Final, Self
from uuid import UUID

from penstock.accounts import audit
from penstock.api.acting import acting_for
from penstock.api.identity import Needs, engine_of
from penstock.api.problem import KINDS
from penstock.api.refusals import refusal_of
from penstock.observe import get_logger

if TYPE_CHECKING:
    from fastapi import Request
    from fastapi.routing import APIRoute

    from penstock.accounts import Caller

log = get_logger(__name__)

_SAFE: Final = frozenset({"GET", "HEAD", "OPTIONS"})
UNAUDITED: Final = frozenset({"previewOperation", "search", "uploadDocument", "uploadNewDocument"})
"""Calls that are not audited, by their id: some change nothing, and a document has its own history."""
AUDITED_READS: Final = frozenset({"connectSource"})
"""Calls that are audited although they are a GET, which a browser can follow."""
AUDITED_PAGES: Final = frozenset(
    {"POST /login", "POST /login/{token}", "POST /logout", "GET /oauth/callback"}
)
"""Calls without a key that are audited as soon as it is known whose they are."""
_LONGEST: Final = 500


def audited(request: Request, **facts: Any) -> None:
    """Add facts to the audit row of this request, such as how many things it changed; never a secret."""
    request.state.audit_detail = {**getattr(request.state, "audit_detail", {}), **facts}


async def note_session(request: Request, caller: Caller, action: str) -> None:
    """Leave a row that somebody signed in or out; they did so even if it cannot be written."""
    try:
        async with acting_for(engine_of(request), caller, durable=False) as conn:
            await audit.begin_audit(
                conn, caller, action=action, target=None, request_id=request.state.request_id, status=303
            )
    except Exception as error:  # noqa: BLE001 - an API without an operator's login has no such audit
        log.warning("audit_incomplete", audit_id=None, error=error)


class Audited:
    """The time of one request. The row is not flushed to disk by itself: what the request then commits
    flushes it as well, so that nothing is ever changed without a row."""

    def __init__(self, request: Request, caller: Caller, route: APIRoute, needs: Sequence[Needs]) -> None:
        self._request = request
        # What is done to the installation is no tenant's, whichever one the caller has chosen to look at.
        whole = caller.is_installation and not all(need.tenant for need in needs)
        self._caller = replace(caller, tenant=None) if whole else caller
        self._route = route
        self._row: UUID | None = None
        self._status = 500

    async def __aenter__(self) -> Self:
        operation_id = self._route.operation_id
        only_reads = self._request.method in _SAFE and operation_id not in AUDITED_READS
        if only_reads or operation_id in UNAUDITED:
            return self
        request, engine = self._request, engine_of(self._request)
        given = {name: str(value)[:_LONGEST] for name, value in request.path_params.items()}
        async with acting_for(engine, self._caller, durable=False) as conn:
            self._row = await audit.begin_audit(
                conn,
                self._caller,
                action=f"{request.method} {self._route.path}",
                target=", ".join(given.values()) or None,
                request_id=request.state.request_id,
            )
        return self

    def ended(self, status: int) -> None:
        self._status = status

    async def __aexit__(
        self, _: type[BaseException] | None, error: BaseException | None, __: TracebackType | None
    ) -> None:
        if self._row is None:
            return
        detail = dict(getattr(self._request.state, "audit_detail", {}))
        if error is not None:
            refused = refusal_of(error)
            self._status = 500 if refused is None else KINDS[refused.kind][0]
            if refused is not None:
                detail["problem"] = refused.kind
        # Also if the request was cancelled: the handler may have committed.
        await asyncio.shield(self._complete(self._row, detail))

    async def _complete(self, row: UUID, detail: dict[str, Any]) -> None:
        try:
            async with acting_for(engine_of(self._request), self._caller, durable=False) as conn:
                await audit.end_audit(conn, self._caller, row, self._status, detail)
        except Exception as error:  # noqa: BLE001 - the request is over; its row stays without a status
            log.warning("audit_incomplete", audit_id=str(row), error=error)
