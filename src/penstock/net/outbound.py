"""The HTTP client for outgoing requests: checked and pinned addresses, limits on response size and time."""

from __future__ import annotations

import asyncio
import ipaddress
import ssl
import time
from functools import cache
from http.cookiejar import CookieJar
from typing import Any, Final

import httpcore2
import httpx2

from penstock.net import h11_patterns
from penstock.net.addresses import judge
from penstock.net.bounded import BoundedStream
from penstock.net.errors import AddressRefused
from penstock.net.pinned import PinnedBackend, Resolver, resolve

SCHEMES: Final = ("http", "https")
MAX_REDIRECTS: Final = 5
MAX_ANSWER_BYTES: Final = 10 * 1024 * 1024
TOTAL_SECONDS: Final = 30.0
CONNECT_SECONDS: Final = 10.0
_DEADLINE: Final = "penstock.deadline"


def check_url(url: str, *, allow_private: bool = False) -> None:
    """Reject a URL that is forbidden even without asking DNS; call this when an address is configured."""
    _check(parse(url), allow_private=allow_private)


def parse(url: str) -> httpx2.URL:
    """The parts of a URL, as the client will read them."""
    try:
        return httpx2.URL(url)
    except httpx2.InvalidURL as invalid:
        raise AddressRefused("", f"it is not a valid URL ({invalid})", "Write http(s)://host/path") from None


def open_client(
    *,
    allow_private: bool = False,
    follow_redirects: bool = False,
    max_answer_bytes: int = MAX_ANSWER_BYTES,
    total_seconds: float = TOTAL_SECONDS,
    resolver: Resolver = resolve,
    verify: ssl.SSLContext | bool = True,
    max_connections: int = 20,
) -> httpx2.AsyncClient:
    """A client that reaches public addresses only; `allow_private` adds loopback and private networks.

    Link-local, metadata, multicast and reserved addresses are never allowed. Proxies from the environment are
    ignored, or the wrong address would be checked. `total_seconds` limits a request including redirects and
    the response. Raises AddressRefused and ResponseRefused in addition to the errors of httpx2.
    """
    transport = GuardedTransport(
        allow_private=allow_private,
        max_answer_bytes=max_answer_bytes,
        total_seconds=total_seconds,
        resolver=resolver,
        verify=verify,
        max_connections=max_connections,
    )
    return httpx2.AsyncClient(
        transport=transport,
        trust_env=False,
        cookies=_NoCookies(),
        follow_redirects=follow_redirects,
        max_redirects=MAX_REDIRECTS,
        timeout=httpx2.Timeout(total_seconds, connect=min(CONNECT_SECONDS, total_seconds)),
        headers={"accept-encoding": "identity", "user-agent": "penstock"},
    )


class _NoCookies(CookieJar):
    """Cookies are neither stored (receivers must not share them) nor parsed, which would cost time."""

    def extract_cookies(self, response: Any, request: Any) -> None:
        """Ignore them."""

    def add_cookie_header(self, request: Any) -> None:
        """Send none."""


@cache
def _system_trust() -> ssl.SSLContext:
    """The system's certificates, read once per process: it takes 20 ms, and an engine has four clients."""
    return httpx2.create_ssl_context(trust_env=False)


class GuardedTransport(httpx2.AsyncHTTPTransport):
    """Checks each hop's URL, connects through PinnedBackend, and limits the response in size and time."""

    def __init__(
        self,
        *,
        allow_private: bool,
        max_answer_bytes: int,
        total_seconds: float,
        resolver: Resolver,
        verify: ssl.SSLContext | bool,
        max_connections: int,
    ) -> None:
        h11_patterns.install()
        # The parent's own pool would resolve names itself. This one keys connections by host name, so two
        # hosts at one address never share a connection, and Host and SNI stay the URL's.
        self._pool = httpcore2.AsyncConnectionPool(
            ssl_context=_system_trust() if verify is True else httpx2.create_ssl_context(verify=verify),
            max_connections=max_connections,
            max_keepalive_connections=max_connections,
            keepalive_expiry=5.0,
            network_backend=PinnedBackend(resolver, allow_private=allow_private),
        )
        self._allow_private = allow_private
        self._max_answer_bytes = max_answer_bytes
        self._total_seconds = total_seconds

    async def handle_async_request(self, request: httpx2.Request) -> httpx2.Response:
        _check(request.url, allow_private=self._allow_private)
        # A redirected request inherits the extensions, and with them the first request's deadline.
        deadline = request.extensions.setdefault(_DEADLINE, time.monotonic() + self._total_seconds)
        try:
            async with asyncio.timeout(deadline - time.monotonic()):
                response = await super().handle_async_request(request)
        except TimeoutError as slow:
            raise httpx2.ReadTimeout("no answer in time", request=request) from slow
        assert isinstance(response.stream, httpx2.AsyncByteStream)
        encoding = response.headers.get("content-encoding", "identity").strip().lower()
        response.stream = BoundedStream(
            response.stream,
            request,
            deadline,
            self._max_answer_bytes,
            encoded=encoding not in ("", "identity"),
        )
        return response


def _check(url: httpx2.URL, *, allow_private: bool) -> None:
    if url.scheme not in SCHEMES:
        raise AddressRefused(
            url.host, f"its scheme is {url.scheme or 'missing'}", "Use an http or https address"
        )
    if not url.host:
        raise AddressRefused("", "the URL has no host", "Write http(s)://host/path")
    if url.userinfo:
        raise AddressRefused(url.host, "the URL contains a user name", "Remove the part before @")
    try:
        address = ipaddress.ip_address(url.host)
    except ValueError:
        return  # a name, or a number only the resolver understands; checked when it is resolved
    judge(url.host, address, allow_private=allow_private)
