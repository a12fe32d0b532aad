"""Sends requests to Qdrant: waits when it says it is busy, and turns every failure into our own errors."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from pathlib import Path
from time import monotonic
from typing import Final, TypeVar

from qdrant_client import AsyncQdrantClient
from qdrant_client.common.client_exceptions import QdrantException, ResourceExhaustedResponse
from qdrant_client.http.exceptions import ApiException, ResponseHandlingException, UnexpectedResponse

from penstock.errors import IndexUnavailable, SettingInvalid
from penstock.index.opening import is_server

T = TypeVar("T")

PATIENCE: Final = 60.0
"""Seconds that a write waits for a server that answers 429; a search does not wait."""

_REMEDIES: Final = {
    401: "Set PENSTOCK_QDRANT_API_KEY to a key that it accepts",
    403: "Set PENSTOCK_QDRANT_API_KEY to a key that may write",
    413: "Raise service.max_request_size_mb in Qdrant's configuration",
    507: "Its disk or memory is full: give it more, or move to a larger cluster",
}


class CollectionGone(IndexUnavailable):
    """The collection does not exist: nobody has created it yet, or somebody deleted it."""


class CollectionExists(IndexUnavailable):
    """Another process created it a moment ago."""


def open_client(address: str, api_key: str | None, seconds: float) -> AsyncQdrantClient:
    """A server's address, or a folder or :memory: for the client's local mode (one process)."""
    if is_server(address):
        return AsyncQdrantClient(
            url=address, api_key=api_key, timeout=max(1, round(seconds)), check_compatibility=False
        )
    if address == ":memory:":
        return AsyncQdrantClient(location=address)
    try:
        return AsyncQdrantClient(path=str(Path(address)))
    except RuntimeError as error:
        if "already accessed" not in str(error):
            raise
        raise SettingInvalid(
            "PENSTOCK_QDRANT_URL",
            f"another process uses the folder {address}, and only one can at a time. Stop it, or run a Qdrant"
            " server and set its address (http://…)",
        ) from error


async def ask(call: Callable[[], Awaitable[T]], *, patience: float = 0.0) -> T:
    """The answer to an idempotent request. Raises CollectionGone, CollectionExists or IndexUnavailable."""
    until = monotonic() + patience
    pause = 1.0
    while True:
        try:
            return await call()
        except (ApiException, QdrantException, ValueError) as error:
            wait = _wait(error, pause)
            if wait is None or monotonic() + wait > until:
                raise _translated(error) from error
        await asyncio.sleep(wait)
        pause *= 2


def _wait(error: Exception, pause: float) -> float | None:
    """How long a busy server wants us to wait; None: it is not a matter of waiting."""
    if isinstance(error, ResourceExhaustedResponse):
        return float(error.retry_after_s) if error.retry_after_s > 0 else pause
    if isinstance(error, QdrantException) and "Retry-After" in str(error):  # a date, which the client refuses
        return pause
    if isinstance(error, UnexpectedResponse) and error.status_code == 429:
        return pause
    return None


def _translated(error: Exception) -> Exception:
    if isinstance(error, ResourceExhaustedResponse):
        return IndexUnavailable("Qdrant", f"it is busy and asks to wait {error.retry_after_s} s")
    if isinstance(error, UnexpectedResponse):
        reason = f"it answered {error.status_code}: {_reason(error)}"
        if error.status_code == 404:
            return CollectionGone("Qdrant", reason)
        if error.status_code == 409:
            return CollectionExists("Qdrant", reason)
        return IndexUnavailable("Qdrant", reason, _REMEDIES.get(error.status_code or 0))
    if isinstance(error, ResponseHandlingException):
        source = error.source
        return IndexUnavailable("Qdrant", f"{type(source).__name__}: {source}".rstrip(": "))
    if isinstance(error, json.JSONDecodeError):
        return IndexUnavailable("Qdrant", "its answer is not JSON, so something else answered in its place")
    if isinstance(error, ValueError):  # how the local mode says it
        if "not found" in str(error):
            return CollectionGone("Qdrant", str(error))
        if "already exists" in str(error):
            return CollectionExists("Qdrant", str(error))
        return error
    return IndexUnavailable("Qdrant", str(error))


def _reason(error: UnexpectedResponse) -> str:
    try:
        said = json.loads(error.content)["status"]["error"]
    except (ValueError, KeyError, TypeError):
        said = error.reason_phrase or "no reason"
    return str(said)[:200]
