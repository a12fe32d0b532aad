"""Reads the rest of a rejected upload for a moment before it closes the connection."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

_SMALL: Final = 1_048_576
_DRAINED_BYTES: Final = 8_388_608
_SECONDS: Final = 1.0


class DrainConnections:
    """Sends the error response, then drains the request body up to a limit, then closes.

    Closing at once would reset the connection, and the client would never see the response that says why. Not
    closing at all would let it send forever. Small bodies are left to the server, which reads them and keeps
    the connection open.
    """

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _may_be_large(scope):
            await self._app(scope, receive, send)
            return
        over = closing = False

        async def watched() -> Message:
            nonlocal over
            message = await receive()
            over = message["type"] == "http.disconnect" or not message.get("more_body", False)
            return message

        async def draining(message: Message) -> None:
            nonlocal closing
            if message["type"] == "http.response.start" and message["status"] >= 400 and not over:
                closing = True
                message["headers"] = [*message.get("headers", ()), (b"connection", b"close")]
            if not closing or message["type"] != "http.response.body" or message.get("more_body", False):
                await send(message)
                return
            await send({**message, "more_body": True})
            left = _DRAINED_BYTES
            with suppress(TimeoutError):
                async with asyncio.timeout(_SECONDS):
                    while not over and left > 0:
                        left -= len((await watched()).get("body", b""))
            await send({"type": "http.response.body", "body": b"", "more_body": False})

        await self._app(scope, watched, draining)


def _may_be_large(scope: Scope) -> bool:
    """Whether the body has no known length, or one that is not small."""
    for name, value in scope["headers"]:
        if name == b"content-length":
            return not value.isdigit() or int(value[:20]) > _SMALL
        if name == b"transfer-encoding":
            return True
    return False
