"""The HTTP client under an MCP connection: it sends the token and keeps what the SDK hides."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator
from datetime import datetime
from email.utils import parsedate_to_datetime
from typing import Final

import httpx2

from penstock.net.outbound import open_client
from penstock.sources.responses import HttpFailure

LONGEST_ANSWER: Final = 64 * 1024 * 1024
_KEPT: Final = (
    "retry-after",
    "retry-after-ms",
    "www-authenticate",
    "x-hubspot-ratelimit-interval-milliseconds",
)
_SESSION: Final = "mcp-session-id"


class BearerAuth(httpx2.Auth):
    """Sends the access token; never asks anybody for a new one."""

    def __init__(self, token: str | None) -> None:
        self._token = token

    def __repr__(self) -> str:
        return "BearerAuth(…)"

    def auth_flow(self, request: httpx2.Request) -> Generator[httpx2.Request, httpx2.Response]:
        self._sign(request)
        yield request

    async def async_auth_flow(
        self, request: httpx2.Request
    ) -> AsyncGenerator[httpx2.Request, httpx2.Response]:
        self._sign(request)
        yield request

    def _sign(self, request: httpx2.Request) -> None:
        if self._token is not None:
            request.headers["Authorization"] = f"Bearer {self._token}"


class HttpWatch:
    """The last failed POST, and the server's time: the SDK passes on neither."""

    def __init__(self) -> None:
        self.failure: HttpFailure | None = None
        self.server_time: datetime | None = None

    def reset(self) -> None:
        self.failure = None

    async def __call__(self, response: httpx2.Response) -> None:
        self.server_time = date_of(response) or self.server_time
        # The SDK also opens a GET stream, which many servers reject; that says nothing about our call.
        if response.status_code < 400 or response.request.method != "POST":
            return
        headers = {name: value for name in _KEPT if (value := response.headers.get(name)) is not None}
        body = b""
        try:
            body = await response.aread()
        finally:
            in_session = _SESSION in response.request.headers
            self.failure = HttpFailure(response.status_code, headers, body, in_session)


def date_of(response: httpx2.Response) -> datetime | None:
    """The server's own time, by its Date header."""
    try:
        return parsedate_to_datetime(response.headers["date"])
    except (KeyError, ValueError):
        return None


def open_http(
    token: str | None,
    watch: HttpWatch | None,
    seconds: float,
    *,
    allow_private: bool,
    most_bytes: int = LONGEST_ANSWER,
) -> httpx2.AsyncClient:
    """A client for one provider."""
    client = open_client(allow_private=allow_private, max_answer_bytes=most_bytes, total_seconds=seconds)
    client.auth = BearerAuth(token)
    if watch is not None:
        client.event_hooks = {"request": [], "response": [watch]}
    return client
