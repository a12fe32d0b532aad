"""Sends the requests of a provider's REST API, and says what an answer that is not a success means."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final

import httpx2

from penstock.net import AddressRefused, ResponseRefused
from penstock.sources.errors import ProviderUnavailable, SourceError
from penstock.sources.mcp_client.http import open_http
from penstock.sources.responses import HttpFailure, failure_of

LONGEST_CALL: Final = 300.0
LONGEST_DOWNLOAD: Final = 1_800.0
USUAL_SECONDS: Final = 60.0
_LONGEST_ERROR: Final = 65_536
_UNREACHABLE: Final = (httpx2.HTTPError, AddressRefused, ResponseRefused, OSError)


class HttpCalls:
    """One client for JSON and one for downloads, which may be larger and take longer.

    `what` names a call in errors. Errors of the client carry the request and with it the token, so none of
    them is passed on, not even as a cause.
    """

    def __init__(
        self,
        provider: str,
        token: str | None,
        *,
        most_bytes: int,
        allow_private: bool,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        self._provider = provider
        self._http = open_http(token, None, LONGEST_CALL, allow_private=allow_private)
        self._downloads = open_http(
            token, None, LONGEST_DOWNLOAD, allow_private=allow_private, most_bytes=most_bytes
        )
        for client in (self._http, self._downloads):
            client.headers.update(headers or {})

    async def fetch(
        self,
        verb: str,
        url: str,
        *,
        what: str,
        query: Mapping[str, Any] | None = None,
        body: Any = None,
        headers: Mapping[str, str] | None = None,
        seconds: float = USUAL_SECONDS,
    ) -> httpx2.Response:
        """The answer if it is a success, read to its end."""
        failed: SourceError
        try:
            request = self._http.build_request(
                verb, url, params=query, json=body, headers=headers, timeout=_timeout(seconds)
            )
            response = await self._http.send(request)
            if response.is_success:
                return response
            failed = failure_of(self._provider, what, _failure(response, response.content))
        except _UNREACHABLE as error:
            failed = self._unreachable(what, error)
        raise failed

    @asynccontextmanager
    async def content(
        self, url: str, *, what: str, query: Mapping[str, Any] | None = None, seconds: float = USUAL_SECONDS
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The bytes of an answer, as they arrive."""
        failed: SourceError | None = None
        response = None
        try:
            request = self._downloads.build_request("GET", url, params=query, timeout=_timeout(seconds))
            response = await self._downloads.send(request, stream=True)
            if not response.is_success:
                failed = failure_of(self._provider, what, _failure(response, await response.aread()))
        except _UNREACHABLE as error:
            failed = self._unreachable(what, error)
        try:
            if failed is not None:
                raise failed
            assert response is not None
            yield self._streamed(what, response)
        finally:
            if response is not None:
                await response.aclose()

    async def close(self) -> None:
        await self._http.aclose()
        await self._downloads.aclose()

    async def _streamed(self, what: str, response: httpx2.Response) -> AsyncIterator[bytes]:
        failed: SourceError | None = None
        try:
            async for part in response.aiter_bytes():
                yield part
        except ResponseRefused:
            raise
        except (httpx2.HTTPError, OSError) as error:
            failed = self._unreachable(what, error)
        if failed is not None:
            raise failed

    def _unreachable(self, what: str, error: Exception) -> SourceError:
        if isinstance(error, AddressRefused | ResponseRefused):
            return ProviderUnavailable(self._provider, error.message)
        if isinstance(error, httpx2.TimeoutException):
            return ProviderUnavailable(self._provider, f"no answer to {what} in time")
        return ProviderUnavailable(self._provider, f"{what} failed ({type(error).__name__})")


def _timeout(seconds: float) -> httpx2.Timeout:
    return httpx2.Timeout(seconds, connect=10)


def _failure(response: httpx2.Response, body: bytes) -> HttpFailure:
    headers = {name.lower(): value for name, value in response.headers.items()}
    return HttpFailure(response.status_code, headers, body[:_LONGEST_ERROR])
