"""The outermost layer: a request id, safe headers, counts, and a problem for whatever was not foreseen."""

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
"""Added where the answer does not say otherwise itself."""


class Envelope:
    """Plain ASGI and not a class of Starlette's: it costs a request microseconds and no task of its own."""

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

        async def send_dressed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                message["headers"] = _dressed(
                    message.get("headers", ()), request_id, state.get("rate_headers", ())
                )
            await send(message)

        try:
            await self._app(scope, receive, send_dressed)
        except ClientDisconnect:
            status = _CLIENT_LEFT
        except Exception as error:
            refused = refusal_of(error)
            if refused is None:
                log.error("request_failed", request_id=request_id, method=scope["method"], error=error)
                refused = HttpRefused(
                    "internal",
                    "Something broke on our side; it is in the log",
                    "Try again; if it stays, report the request_id",
                )
            if status:
                raise  # half an answer is out: the server must cut the connection, not end it politely
            response = answer(refused, instance=scope["path"], request_id=request_id)
            await response(scope, receive, send_dressed)
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
    """The caller's own id when it is harmless, otherwise a new one."""
    for name, value in scope["headers"]:
        if name == b"x-request-id" and _REQUEST_ID.fullmatch(value):
            return str(value, "ascii")
    return uuid7().hex


def finished_answer(refused: HttpRefused, *, instance: str) -> Response:
    """The answer to a request that never gets as far as the app, with the headers of all answers."""
    request_id = uuid7().hex
    response = answer(refused, instance=instance, request_id=request_id)
    response.raw_headers = _dressed(response.raw_headers, request_id)
    return response


def _dressed(
    headers: Iterable[tuple[bytes, bytes]], request_id: str, more: Iterable[tuple[bytes, bytes]] = ()
) -> list[tuple[bytes, bytes]]:
    dressed = list(headers)
    there = {name.lower() for name, _ in dressed}
    dressed += [(name, value) for name, value in (*_HEADERS, *more) if name not in there]
    dressed.append((b"x-request-id", request_id.encode()))
    return dressed
