"""Lines and literals of an IMAP connection, each bounded before it is read."""

from __future__ import annotations

import asyncio
import socket
import ssl
from collections.abc import Sequence
from typing import Final

from penstock.errors import PenstockError
from penstock.net.errors import AddressRefused
from penstock.net.sockets import connect
from penstock.sources.errors import ProviderUnavailable
from penstock.sources.imap.limits import LOGIN_SECONDS, LONGEST_LINE
from penstock.sources.imap.server import MailServer, trusted

PROVIDER: Final = "The mail server"
_LONGEST_GREETING: Final = 8_192
_MOST_DIGITS: Final = 10


class AnswerBudget:
    """How many bytes the answer to one command may still have."""

    def __init__(self, size: int) -> None:
        self._left = size

    def take(self, size: int) -> None:
        self._left -= size
        if self._left < 0:
            raise ProviderUnavailable(PROVIDER, "its answer is longer than any answer to the command can be")


class ImapWire:
    """One open connection; any failure is ProviderUnavailable, and ends the connection."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer

    async def send(self, data: bytes) -> None:
        try:
            self._writer.write(data)
            await self._writer.drain()
        except OSError as error:
            raise _lost(error) from None

    async def response(self, budget: AnswerBudget, *, first: bytes | None = None) -> Sequence[bytes]:
        """One response: a line, and if it has literals, each of them and the line that follows it."""
        line = await self.line() if first is None else first
        parts: list[bytes] = []
        while True:
            budget.take(len(line) + 1)
            size = _literal(line)
            if size is None:
                return [*parts, line]
            budget.take(size)
            parts.append(line[: line.rindex(b"{")])
            try:
                parts.append(await self._reader.readexactly(size))
            except (OSError, asyncio.IncompleteReadError) as error:
                raise _lost(error) from None
            line = await self.line()

    async def line(self) -> bytes:
        try:
            line = await self._reader.readuntil(b"\n")
        except asyncio.LimitOverrunError:
            raise ProviderUnavailable(
                PROVIDER, f"it sent a line of more than {LONGEST_LINE:,} bytes"
            ) from None
        except (OSError, asyncio.IncompleteReadError) as error:
            raise _lost(error) from None
        return line.rstrip(b"\r\n")

    def close(self) -> None:
        self._writer.transport.abort()


async def open_wire(server: MailServer, *, allow_private: bool) -> ImapWire:
    """Connect, and be sure of the server's certificate before anything is said."""
    opened: socket.socket | None = None
    try:
        async with asyncio.timeout(LOGIN_SECONDS):
            context = None if server.security == "none" else await asyncio.to_thread(trusted, server)
            opened = await connect(
                server.host,
                server.port,
                allow_private=allow_private,
                only_loopback=server.security == "none",
            )
            if server.security == "starttls":
                await _start_tls(opened)
            reader, writer = await asyncio.open_connection(
                sock=opened,
                ssl=context,
                server_hostname=None if context is None else server.host,
                limit=LONGEST_LINE,
            )
            return ImapWire(reader, writer)
    except BaseException as error:
        if opened is not None:
            opened.close()
        if isinstance(error, PenstockError) and not isinstance(error, AddressRefused):
            raise
        if isinstance(error, AddressRefused | OSError):
            raise _unreachable(error) from None
        raise


async def _start_tls(opened: socket.socket) -> None:
    """Ask for TLS on the bare socket: bytes that somebody put behind the answer are not taken for the
    server's."""
    loop = asyncio.get_running_loop()
    greeting = await _plain_line(loop, opened)
    if not greeting.upper().startswith(b"* OK"):
        raise ProviderUnavailable(PROVIDER, "it did not greet as an IMAP server does")
    await loop.sock_sendall(opened, b"S0 STARTTLS\r\n")
    for _ in range(20):
        line = await _plain_line(loop, opened)
        if line.startswith(b"S0 "):
            if line[3:5].upper() == b"OK":
                return
            break
    raise ProviderUnavailable(PROVIDER, "it does not offer STARTTLS")


async def _plain_line(loop: asyncio.AbstractEventLoop, opened: socket.socket) -> bytes:
    line = b""
    while len(line) < _LONGEST_GREETING:
        piece = await loop.sock_recv(opened, 1)
        if not piece:
            raise ProviderUnavailable(PROVIDER, "it closed the connection")
        if piece == b"\n":
            return line.rstrip(b"\r")
        line += piece
    raise ProviderUnavailable(PROVIDER, "it did not greet as an IMAP server does")


def _literal(line: bytes) -> int | None:
    """The size of the literal that follows the line."""
    if not line.endswith(b"}"):
        return None
    start = line.rfind(b"{", -_MOST_DIGITS - 3)
    digits = line[start + 1 : -1].removesuffix(b"+")
    if start < 0 or not digits.isdigit():
        return None
    return int(digits)


def _lost(error: Exception) -> ProviderUnavailable:
    if isinstance(error, asyncio.IncompleteReadError):
        return ProviderUnavailable(PROVIDER, "it closed the connection")
    return ProviderUnavailable(PROVIDER, f"the connection was lost ({type(error).__name__})")


def _unreachable(error: AddressRefused | OSError) -> ProviderUnavailable:
    match error:
        case AddressRefused():
            return ProviderUnavailable(PROVIDER, error.message)
        case ssl.SSLCertVerificationError():
            return ProviderUnavailable(PROVIDER, f"its certificate is not trusted ({error.verify_message})")
        case ssl.SSLError():
            return ProviderUnavailable(PROVIDER, "it does not speak TLS at this port")
        case TimeoutError():
            return ProviderUnavailable(PROVIDER, "there was no connection in time")
        case _:
            return ProviderUnavailable(PROVIDER, f"there is no connection ({type(error).__name__})")
