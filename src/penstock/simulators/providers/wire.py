"""What the app does with requests and responses as ASGI messages: read, replay, watch and lose them."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any, Final

from penstock.simulators.providers.endpoints import Call
from penstock.simulators.providers.ledger import Entry

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import Message, Receive, Send

LARGEST_BODY: Final = 4_194_304


def rpc(request: Request, body: bytes) -> tuple[str, dict[str, Any]]:
    """The tool or method of an MCP request and its arguments."""
    if request.method != "POST":
        return f"http/{request.method.lower()}", {}
    try:
        message = json.loads(body)
    except ValueError:
        return "http/post", {}
    if not isinstance(message, dict):
        return "http/post", {}
    params = message.get("params") or {}
    if message.get("method") == "tools/call" and isinstance(params, dict):
        arguments = params.get("arguments") or {}
        return str(params.get("name")), arguments if isinstance(arguments, dict) else {}
    return str(message.get("method", "http/post")), {}


def arguments(request: Request, body: bytes) -> dict[str, Any]:
    """The query, and the fields of a form or a JSON object."""
    given: dict[str, Any] = dict(request.query_params)
    kind = request.headers.get("content-type", "")
    if body and kind.startswith("application/x-www-form-urlencoded"):
        given |= Call(request, body, {}).form
    elif body and kind.startswith("application/json"):
        parsed = Call(request, body, {}).json
        given |= parsed if isinstance(parsed, dict) else {}
    return given


async def read(receive: Receive) -> bytes | None:
    """The request's body; none if it is too large."""
    parts = bytearray()
    while True:
        message = await receive()
        if message["type"] != "http.request":
            return bytes(parts)
        parts += message.get("body", b"")
        if len(parts) > LARGEST_BODY:
            return None
        if not message.get("more_body"):
            return bytes(parts)


def replayed(body: bytes, receive: Receive) -> Receive:
    """Receives the body once more, then what comes from the client."""
    left = [body]

    async def replay() -> Message:
        if left:
            return {"type": "http.request", "body": left.pop(), "more_body": False}
        return await receive()

    return replay


def watched(entry: Entry, send: Send) -> Send:
    async def watch(message: Message) -> None:
        if message["type"] == "http.response.start":
            entry.status = int(message["status"])
        else:
            entry.sent += len(message.get("body", b""))
        await send(message)

    return watch


def lost(send: Send) -> Send:
    """The client never sees the response: the connection ends after its first bytes."""
    begun = False

    async def lose(message: Message) -> None:
        nonlocal begun
        if message["type"] == "http.response.start":
            headers = [(b"content-type", b"application/json"), (b"content-length", b"100000")]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
        elif not begun:
            begun = True
            await send({"type": "http.response.body", "body": b"{", "more_body": True})

    return lose


async def until_gone(receive: Receive, seconds: float) -> None:
    """Wait this long, or until the caller has given up."""
    try:
        async with asyncio.timeout(seconds):
            while (await receive())["type"] != "http.disconnect":
                pass
    except TimeoutError:
        return
