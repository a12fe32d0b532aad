"""Faults on demand: what a simulated provider does instead of a good response."""

from __future__ import annotations

import asyncio
from collections import deque
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal, TypeAlias

from starlette.responses import JSONResponse, Response

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Receive, Scope, Send

Kind: TypeAlias = Literal[
    "status", "slow", "disconnect", "not_json",  # any provider
    "short", "wrong_size", "not_a_number", "shuffled", "other_model",  # embedders: a wrong response
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class Fault:
    """One bad response; `status` and `headers` belong to the kind `status`, `seconds` to `slow`."""

    kind: Kind
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    message: str = "the simulator was told to fail"
    seconds: float = 60.0


def busy(retry_after: str | None = None) -> Fault:
    """429, with or without Retry-After."""
    return Fault("status", 429, {} if retry_after is None else {"retry-after": retry_after}, "slow down")


class Faults:
    """Queued faults: each request takes one until none is left; after that an outage, if there is one."""

    def __init__(self) -> None:
        self._line: deque[Fault] = deque()
        self._outage: Fault | None = None

    def add(self, fault: Fault, times: int = 1) -> None:
        self._line.extend([fault] * times)

    def begin_outage(self, fault: Fault | None = None) -> None:
        """Every request fails from now on, with 503 by default, until `clear`."""
        self._outage = fault or Fault("status", 503)

    def clear(self) -> None:
        self._line.clear()
        self._outage = None

    def take(self) -> Fault | None:
        return self._line.popleft() if self._line else self._outage


async def response_for(fault: Fault, request: Request) -> Response | None:
    """The response of a fault that does not depend on the provider; None for the others."""
    match fault.kind:
        case "status":
            body = {"error": {"message": fault.message}, "message": fault.message}
            return JSONResponse(body, fault.status, headers=fault.headers)
        case "slow":
            await _until_gone(request, fault.seconds)
            return Response(status_code=504)
        case "disconnect":
            return CutOff()
        case "not_json":
            return Response("<html>Bad gateway</html>", media_type="text/html")
        case _:
            return None


class CutOff(Response):
    """Promises a long body, sends its beginning and closes the connection."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = [(b"content-type", b"application/json"), (b"content-length", b"100000")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": b'{"data": [', "more_body": True})


async def _until_gone(request: Request, seconds: float) -> None:
    """Wait this long, or until the caller has given up."""
    try:
        async with asyncio.timeout(seconds):
            while (await request.receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return
