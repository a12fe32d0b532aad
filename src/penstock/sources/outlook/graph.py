"""Calls Microsoft Graph for one mailbox: at most four requests at a time, ids that survive a move."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlsplit

from penstock.source_settings import provider_settings
from penstock.sources.errors import ProviderUnavailable
from penstock.sources.http_calls import HttpCalls
from penstock.sources.responses import CallRejected

if TYPE_CHECKING:
    from penstock.sources.protocol import OpenSource

PROVIDER: Final = "Outlook"
MOST_AT_ONCE: Final = 4
"""Graph's limit for one app and one mailbox."""
IMMUTABLE: Final = 'IdType="ImmutableId"'
DOWNLOAD_SECONDS: Final = 120.0
_NO_MAILBOX: Final = ("ErrorInvalidUser", "MailboxNotEnabledForRESTAPI", "Request_ResourceNotFound")


class Graph:
    """`root` is the path of the mailbox: the account's own, or a shared one by its address."""

    def __init__(self, http: HttpCalls, url: str, version: str, mailbox: str | None) -> None:
        self._http = http
        self._url = f"{url}/{version}"
        self.root = "/me" if mailbox is None else f"/users/{quote(mailbox, safe='@')}"
        self._slots = asyncio.Semaphore(MOST_AT_ONCE)

    async def get(
        self, path: str, query: Mapping[str, str] | None = None, *, page_size: int | None = None
    ) -> dict[str, Any]:
        """The object at a path, or at a link that Graph gave."""
        prefer = IMMUTABLE if page_size is None else f"{IMMUTABLE}, odata.maxpagesize={page_size}"
        return await self._call("GET", path, query=query, prefer=prefer)

    async def send(self, verb: str, path: str, body: Mapping[str, Any] | None = None) -> dict[str, Any]:
        return await self._call(verb, path, body=body)

    @asynccontextmanager
    async def content(self, path: str) -> AsyncIterator[AsyncIterator[bytes]]:
        async with (
            self._slots,
            self._http.content(
                self._address(path), what=_what("GET", path), seconds=DOWNLOAD_SECONDS
            ) as parts,
        ):
            yield parts

    def is_ours(self, link: str) -> bool:
        """Whether a link leads where the token may be sent."""
        try:
            given, known = urlsplit(link), urlsplit(self._url)
            return (given.scheme, given.hostname, given.port, given.username) == (
                known.scheme,
                known.hostname,
                known.port,
                None,
            )
        except ValueError:
            return False

    async def _call(
        self,
        verb: str,
        path: str,
        *,
        query: Mapping[str, str] | None = None,
        body: Mapping[str, Any] | None = None,
        prefer: str = IMMUTABLE,
    ) -> dict[str, Any]:
        what = _what(verb, path)
        async with self._slots:
            response = await self._http.fetch(
                verb, self._address(path), what=what, query=query, body=body, headers={"prefer": prefer}
            )
        try:
            answer = json.loads(response.content) if response.content else {}
        except (ValueError, RecursionError):
            answer = None
        if not isinstance(answer, dict):
            raise ProviderUnavailable(PROVIDER, f"{what} returned no object")
        return answer

    def _address(self, path: str) -> str:
        if path.startswith("/"):
            return self._url + path
        if not self.is_ours(path):
            raise ProviderUnavailable(PROVIDER, "it sent a link to another server")
        return path


@asynccontextmanager
async def open_graph(source: OpenSource, mailbox: str | None) -> AsyncIterator[Graph]:
    """Connections for one sync."""
    known = provider_settings(source.settings, "outlook")
    http = HttpCalls(
        PROVIDER,
        source.access_token,
        most_bytes=source.settings.max_upload_bytes,
        allow_private=source.settings.allow_private_addresses,
        headers={"prefer": IMMUTABLE},
    )
    try:
        yield Graph(http, known.api_url, known.api_version, mailbox)
    finally:
        await http.close()


def is_gone(rejected: CallRejected) -> bool:
    """The item does not exist any more; without a mailbox nothing does, which is another matter."""
    return rejected.status == 404 and rejected.error not in _NO_MAILBOX


def _what(verb: str, path: str) -> str:
    """The call for messages: its last word, never an id, an address or a token."""
    last = urlsplit(path).path.rstrip("/").rpartition("/")[2]
    known = ("delta", "me", "mailFolders", "childFolders", "attachments", "subscriptions", "$value", "inbox")
    return f"{verb} …/{last}" if last in known else f"{verb} of one item"
