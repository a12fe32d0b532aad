"""The outermost middleware: a request id, safe headers, metrics, and a problem for unexpected errors."""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect

from penstock.api.problem import HttpRefused, answer
from penstock.api.refusals import refusal_of
from penstock.api.request_counts import RequestCounts
from penstock.model import uuid7
from penstock.observe import get_logger

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.responses import Response
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

log = get_logger(__name__)

_REQUEST_ID: Final = re.compile(rb"[A-Za-z0-9._-]{1,64}")
_CLIENT_LEFT: Final = 499
_HEADERS: Final = (
    (b"x-content-type-options", b"nosniff"),
    (b"x-frame-options", b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cache-control", b"no-store"),
    (b"content-security-policy", b"default-src 'none'; frame-ancestors 'none'"),
)
"""Headers added unless the response sets them itself."""


class EnvelopeMiddleware:
    """Plain ASGI instead of Starlette's base class: it costs microseconds and no extra task per request."""

    def __init__(self, app: ASGIApp, counts: RequestCounts) -> None:
        self._app = app
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        started = time.perf_counter()
        state = scope.setdefault("state", {})
        state["request_id"] = request_id = _request_id(scope)
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _with_headers(
                    message.get("headers", ()), request_id, state.get("rate_headers", ())
                )
            await send(message)

        try:
            await self._app(scope, receive, send_with_headers)
        except ClientDisconnect:
            status = _CLIENT_LEFT
        except Exception as error:
            refused = refusal_of(error)
            if refused is None:
                log.error("request_failed", request_id=request_id, method=scope["method"], error=error)
                refused = HttpRefused(
                    "internal",
                    "An unexpected error occurred; it has been logged",
                    "Try again; if the error persists, report the request_id",
                )
            if status:
                raise  # half a response has been sent: the server must cut the connection, not end it cleanly
            response = answer(refused, instance=scope["path"], request_id=request_id)
            await response(scope, receive, send_with_headers)
        finally:
            seconds = time.perf_counter() - started
            route = getattr(scope.get("route"), "path", "none")
            self._counts.served(scope["method"], route, status or _CLIENT_LEFT, seconds)
            if log.enabled_for_debug:
                log.debug(
                    "request_served",
                    request_id=request_id,
                    method=scope["method"],
                    route=route,
                    status=status,
                    seconds=round(seconds, 4),
                )


def _request_id(scope: Scope) -> str:
    """The caller's own id if it is safe, otherwise a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value, "ascii")
    return uuid7().hex


def finished_answer(refused: HttpRefused, *, instance: str) -> Response:
    """The response to a request that never reaches the app, with the usual headers."""
    request_id = uuid7().hex
    response = answer(refused, instance=instance, request_id=request_id)
    response.raw_headers = _with_headers(response.raw_headers, request_id)
    return response


def _with_headers(
    headers: Iterable[tuple[bytes, bytes]], request_id: str, more: Iterable[tuple[bytes, bytes]] = ()
) -> list[tuple[bytes, bytes]]:
    dressed = list(headers)
    there = {name.lower() for name, _ in dressed}
    dressed += [(name, value) for name, value in (*_HEADERS, *more) if name not in there]
    dressed.append((b"x-request-id", request_id.encode()))
    return dressed
