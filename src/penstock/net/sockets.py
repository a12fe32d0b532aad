"""Opens TCP connections for protocols other than HTTP, to checked addresses only."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import Sequence
from typing import Final

from penstock.net.addresses import LOOPBACK, Address
from penstock.net.errors import AddressRefused
from penstock.net.pinned import Resolver, checked, resolve

CONNECT_SECONDS: Final = 10.0


async def connect(
    host: str,
    port: int,
    *,
    allow_private: bool,
    only_loopback: bool = False,
    resolver: Resolver = resolve,
) -> socket.socket:
    """A connected, non-blocking socket. The host is resolved once and every address of it is checked.

    AddressRefused for a forbidden address; OSError (TimeoutError, too) if nothing answers there.
    """
    async with asyncio.timeout(CONNECT_SECONDS):
        try:
            texts = await resolver(host, port)
        except UnicodeError as unusable:
            raise OSError(f"{host} does not resolve") from unusable
    addresses = checked(host, texts, allow_private=allow_private)
    if only_loopback and not all(_is_loopback(each) for each in addresses):
        raise AddressRefused(host, "without TLS only this machine may be reached", "Use tls or starttls")
    return await _first(addresses, port)


async def _first(addresses: Sequence[Address], port: int) -> socket.socket:
    failed: OSError = OSError("the host has no address")
    for address in addresses:
        opened = socket.socket(socket.AF_INET6 if address.version == 6 else socket.AF_INET)
        try:
            opened.setblocking(False)
            opened.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            opened.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
            async with asyncio.timeout(CONNECT_SECONDS):
                await asyncio.get_running_loop().sock_connect(opened, (str(address), port))
        except OSError as error:
            opened.close()
            failed = error
        except BaseException:
            opened.close()
            raise
        else:
            return opened
    raise failed


def _is_loopback(address: Address) -> bool:
    return any(address in network for network in LOOPBACK if network.version == address.version)
