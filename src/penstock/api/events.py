"""GET /v1/events: a stream that tells a page what changed, so that it need not ask."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any, Final

from fastapi import APIRouter, Depends, Request
from fastapi.responses import Response

from penstock.accounts import Caller
from penstock.api.guarded import StreamedRoute
from penstock.api.identity import Needs, engine_of
from penstock.api.live import LiveChanges, PageChanges
from penstock.api.problem import HttpRefused

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send

router = APIRouter(route_class=StreamedRoute, tags=["Operate"], prefix="/v1")

KEEP_ALIVE_SECONDS: Final = 15.0
_LONGEST_SECONDS: Final = 900.0
"""A stream ends after ten to fifteen minutes and the page reconnects, so that an ended session loses it."""
_STREAM: Final[dict[int | str, dict[str, Any]]] = {
    200: {
        "description": (
            'Events `changed` with `{"names": […]}`: `documents`, `document:ID`, `queues`, `tasks`, `dead`, '
            "`workers`, `sources`, `source:ID`, `processes`, `operations`, `operation:ID`, `clients`, "
            "`keys`, `sessions`, `schedules`, `views`, `projects`, `decisions`, `inlets`, `tenants`, `audit`."
        ),
        "content": {"text/event-stream": {"schema": {"type": "string"}}},
    }
}

AnyReader = Annotated[Caller, Depends(Needs("documents:read", installation=True))]


@router.get("/events", operation_id="followChanges", responses=_STREAM, response_class=Response)
async def events(request: Request, caller: AnyReader) -> Response:
    """Follow what changes, as server-sent events; without a tenant, in the whole installation."""
    live: LiveChanges = request.app.state.live
    tenant_id = None if caller.tenant is None else caller.tenant_id
    limit = engine_of(request).settings.api_connections
    if live.closed or len(live) >= limit // 2 or live.count_of(tenant_id) >= max(1, limit // 4):
        raise HttpRefused(
            "unavailable",
            "This process is stopping" if live.closed else "Too many pages follow changes in this process",
            "Try again later; if this happens often, raise PENSTOCK_API_CONNECTIONS or run another process",
            headers={"Retry-After": "5"},
        )
    return EventStream(live, caller)


class EventStream(Response):
    """Sends what changed until the client leaves, is too slow, or the server stops."""

    media_type = "text/event-stream"

    def __init__(self, live: LiveChanges, caller: Caller) -> None:
        super().__init__()
        self._live = live
        self._tenant_id = None if caller.tenant is None else caller.tenant_id
        self.raw_headers = [
            (b"content-type", b"text/event-stream; charset=utf-8"),
            (b"cache-control", b"no-store"),
            (b"x-accel-buffering", b"no"),  # nginx would collect events before it passes them on
        ]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
        with self._live.subscribed(self._tenant_id) as page:
            leaving = asyncio.create_task(_left(receive, page), name="penstock-page-left")
            try:
                await self._follow(page, send)
            finally:
                leaving.cancel()
                await asyncio.wait([leaving])

    async def _follow(self, page: PageChanges, send: Send) -> None:
        loop = asyncio.get_running_loop()
        end = loop.time() + _LONGEST_SECONDS * random.uniform(2 / 3, 1.0)
        chunk = b"retry: 2000\n\n"
        while not page.has_ended() and loop.time() < end:
            # Waits while the client reads too slowly; the connection's limits drop one that stays so.
            await send({"type": "http.response.body", "body": chunk, "more_body": True})
            chunk = _event(await page.changed(KEEP_ALIVE_SECONDS))
        await send({"type": "http.response.body", "body": b"", "more_body": False})


def _event(names: list[str]) -> bytes:
    if not names:
        return b": still here\n\n"
    told: Mapping[str, list[str]] = {"names": names}
    return b"event: changed\ndata: " + json.dumps(told, separators=(",", ":")).encode() + b"\n\n"


async def _left(receive: Receive, page: PageChanges) -> None:
    """Ends the subscription as soon as the client is gone."""
    while (await receive())["type"] != "http.disconnect":
        pass
    page.end()
