"""Calls methods as requests of a REST API."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Mapping
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote

from penstock.sources.bindings.binding import Binding, Method
from penstock.sources.bindings.page import NotAPage, RecordPage, page_of, start_of
from penstock.sources.bindings.template import fill, fill_text
from penstock.sources.errors import ProviderUnavailable
from penstock.sources.http_calls import HttpCalls
from penstock.sources.mcp_client.http import date_of


class RestCalls:
    """The methods of one binding, by the placeholders of their requests."""

    def __init__(
        self,
        provider: str,
        binding: Binding,
        url: str,
        token: str | None,
        constants: Mapping[str, Any],
        *,
        most_bytes: int,
        allow_private: bool,
    ) -> None:
        self._provider = provider
        self._binding = binding
        self._url = url
        self._constants = constants
        self._http = HttpCalls(provider, token, most_bytes=most_bytes, allow_private=allow_private)

    async def page(self, method: Method, values: Mapping[str, Any], cursor: Any) -> RecordPage:
        assert method.request is not None
        url, query, body = self._request(method, values, cursor)
        response = await self._http.fetch(
            method.request[0], url, what=method.what, query=query, body=body, seconds=method.timeout
        )
        page = None
        try:
            answer = json.loads(response.content) if response.content else {}
            page = page_of(method, answer, cursor, date_of(response) or datetime.now(UTC))
        except (NotAPage, ValueError, RecursionError):
            pass  # raised below: no error carries the one before it, whose frames hold the response
        if page is None:
            raise ProviderUnavailable(self._provider, f"{method.what} returned no records that could be read")
        if page.next is not None and page.next == cursor:
            raise ProviderUnavailable(self._provider, f"{method.what} returned the same page again")
        return page

    def content(
        self, method: Method, values: Mapping[str, Any]
    ) -> AbstractAsyncContextManager[AsyncIterator[bytes]]:
        url, query, _ = self._request(method, values, None)
        return self._http.content(url, what=method.what, query=query, seconds=method.timeout)

    async def close(self) -> None:
        await self._http.close()

    def _request(
        self, method: Method, values: Mapping[str, Any], cursor: Any
    ) -> tuple[str, Mapping[str, Any], Any]:
        """Its address, query and body."""
        assert method.request is not None
        given = {
            **self._constants,
            "page_size": method.page_size,
            **values,
            "cursor": start_of(method, cursor),
        }
        safe = {name: quote(str(value), safe="/" if name == "root" else "") for name, value in given.items()}
        query = {
            name: ("true" if value else "false") if isinstance(value, bool)
            else ",".join(map(str, value)) if isinstance(value, list) else value
            for name, value in fill(method.arguments, given).items()
        }  # fmt: skip
        body = None if method.body is None else fill(method.body, given)
        return self._url + fill_text(method.request[1], safe), query, body
