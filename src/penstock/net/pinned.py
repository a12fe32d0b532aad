"""Connects only to checked addresses, so that a second DNS answer makes no difference (DNS rebinding)."""

from __future__ import annotations

import asyncio
import ipaddress
import socket
from collections.abc import Iterable, Sequence
from typing import Protocol

import httpcore2

from penstock.net.addresses import Address, judge
from penstock.net.errors import AddressRefused


class Resolver(Protocol):
    """Turns a host name into all its IP addresses."""

    async def __call__(self, host: str, port: int, /) -> Sequence[str]: ...


async def resolve(host: str, port: int) -> Sequence[str]:
    """All addresses of a host, by the system's resolver."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return list(dict.fromkeys(str(sockaddr[0]) for *_, sockaddr in found))


def checked(host: str, texts: Sequence[str], *, allow_private: bool) -> list[Address]:
    """The addresses of a host; AddressRefused if one of them is forbidden: a mixed answer is an attack."""
    addresses = [ipaddress.ip_address(text) for text in texts]
    for address in addresses:
        judge(host, address, allow_private=allow_private)
    return addresses


class PinnedBackend(httpcore2.AsyncNetworkBackend):
    """Resolves a host once per connection, checks every address, and connects to one of them."""

    def __init__(self, resolver: Resolver, *, allow_private: bool) -> None:
        self._resolver = resolver
        self._allow_private = allow_private
        self._network = httpcore2.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        failed: httpcore2.ConnectError | httpcore2.ConnectTimeout | None = None
        for address in await self._checked(host, port, timeout):
            try:
                return await self._network.connect_tcp(
                    str(address),
                    port,
                    timeout=timeout,
                    local_address=local_address,
                    socket_options=socket_options,
                )
            except (httpcore2.ConnectError, httpcore2.ConnectTimeout) as error:
                failed = error
        raise failed or httpcore2.ConnectError(f"{host} has no address")

    async def connect_unix_socket(
        self,
        path: str,
        timeout: float | None = None,
        socket_options: Iterable[httpcore2.SOCKET_OPTION] | None = None,
    ) -> httpcore2.AsyncNetworkStream:
        raise AddressRefused(path, "it is a Unix socket")

    async def sleep(self, seconds: float) -> None:
        await asyncio.sleep(seconds)

    async def _checked(self, host: str, port: int, timeout: float | None) -> list[Address]:
        try:
            async with asyncio.timeout(timeout):
                texts = await self._resolver(host, port)
        except TimeoutError as slow:
            raise httpcore2.ConnectTimeout(f"{host} was not resolved in time") from slow
        except (OSError, UnicodeError) as unknown:
            raise httpcore2.ConnectError(f"{host} does not resolve: {unknown}") from unknown
        return checked(host, texts, allow_private=self._allow_private)
