"""A simulated receiver of webhooks that keeps the requests and answers as told."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route

from penstock.simulators.faults import Faults, response_for

if TYPE_CHECKING:
    from starlette.requests import Request


@dataclass(frozen=True, slots=True)
class Received:
    """One request as received; header names are in lower case."""

    path: str
    headers: Mapping[str, str]
    body: bytes


class WebhookReceiver:
    """Accepts POSTs at any path and answers 204, unless a fault is queued."""

    def __init__(self) -> None:
        self.faults = Faults()
        self.received: list[Received] = []
        self.app = Starlette(routes=[Route("/{path:path}", self._receive, methods=["POST", "GET"])])

    async def _receive(self, request: Request) -> Response:
        self.received.append(Received(request.url.path, dict(request.headers), await request.body()))
        fault = self.faults.take()
        answer = None if fault is None else await response_for(fault, request)
        return answer or Response(status_code=204)
