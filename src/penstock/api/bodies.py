"""Reads request bodies within limits of size and time."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import TYPE_CHECKING, Final

from starlette.requests import ClientDisconnect

from penstock.api.problem import HttpRefused
from penstock.errors import TooLarge

if TYPE_CHECKING:
    from fastapi import Request

JSON_BYTES: Final = 1_048_576
_PATIENCE_SECONDS: Final = 30.0
"""How long the next piece of a body may take."""


async def stream(request: Request) -> AsyncIterator[bytes]:
    """The body as it arrives; a client that stops sending is disconnected."""
    pieces = request.stream()
    while True:
        try:
            async with asyncio.timeout(_PATIENCE_SECONDS):
                piece = await anext(pieces)
        except StopAsyncIteration:
            return
        except TimeoutError:
            raise ClientDisconnect from None
        if piece:
            yield piece


async def read_whole(
    request: Request, limit: int, *, what: str, take: Callable[[int], None] | None = None
) -> bytes:
    """The whole body, rejected as soon as its announced or actual size is over the limit.

    `take` is a share of a SpoolBudget, called for every piece before it is kept.
    """
    refuse_announced(request, limit, what=what)
    body = bytearray()
    async for piece in stream(request):
        if len(body) + len(piece) > limit:
            raise _too_large(limit, what)
        if take is not None:
            take(len(piece))
        body += piece
    return bytes(body)


def announced(request: Request) -> int:
    """The announced length of a body, 0 if there is none."""
    length = request.headers.get("content-length", "")
    return int(length[:20]) if length.isdigit() else 0


def refuse_announced(request: Request, limit: int, *, what: str) -> None:
    """Reject a body by its Content-Length before a byte is read."""
    if announced(request) > limit:
        raise _too_large(limit, what)


def refuse_other_than_json(request: Request) -> None:
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json" or (kind.startswith("application/") and kind.endswith("+json")):
        return
    raise HttpRefused(
        "unsupported-media-type",
        f"The body must be application/json, not {kind[:100] or 'without a type'}",
        "Send Content-Type: application/json",
        field="Content-Type",
    )


def refuse_unacceptable(request: Request) -> None:
    """Reject a client that does not accept JSON."""
    accept = request.headers.get("accept", "")
    if not accept:
        return
    for choice in accept.lower().split(","):
        kind, *parameters = (part.strip() for part in choice.split(";"))
        refused = any(part.replace(" ", "") in ("q=0", "q=0.0", "q=0.00", "q=0.000") for part in parameters)
        if not refused and (kind in ("*/*", "application/*") or kind.endswith(("/json", "+json"))):
            return
    raise HttpRefused(
        "not-acceptable",
        "The response is JSON, which the Accept header rules out",
        "Send Accept: application/json, or remove the header",
        field="Accept",
    )


def _too_large(limit: int, what: str) -> TooLarge:
    return TooLarge(f"the body is over {limit} bytes", what, "Send less in one request")
