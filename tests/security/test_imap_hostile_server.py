"""A hostile mail server gets nothing: no memory, no time, no password that is not for it."""

from __future__ import annotations

import asyncio
import tracemalloc
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeAlias
from uuid import uuid4

import pytest

from penstock.model import SourceId, TenantId
from penstock.settings import Settings
from penstock.sources.errors import LoginRejected, ProviderUnavailable
from penstock.sources.imap import session, wire
from penstock.sources.imap.provider import ImapProvider
from penstock.sources.protocol import Cursor, OpenSource

Script: TypeAlias = Callable[[asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]
IMAP = ImapProvider()
MOST_MEMORY = 40_000_000
pytestmark = pytest.mark.timeout(120)


class Hostile:
    """Answers as a server does, except to the command that a test names."""

    def __init__(self, at: str, answer: bytes | None, *, forever: bytes | None = None) -> None:
        self.at, self.answer, self.forever = at, answer, forever
        self.heard: list[bytes] = []

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            if self.at == "greeting":
                await self._attack(writer, b"")
            writer.write(b"* OK hello\r\n")
            while line := await reader.readline():
                self.heard.append(line)
                tag, _, rest = line.rstrip().partition(b" ")
                words = rest.upper().split()
                name = b" ".join(words[:2]) if words[0] == b"UID" else words[0]
                if name.decode() == self.at:
                    await self._attack(writer, tag)
                else:
                    writer.write(_ordinary(name) + tag + b" OK done\r\n")
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    async def _attack(self, writer: asyncio.StreamWriter, tag: bytes) -> None:
        if self.answer is not None:
            writer.write(self.answer.replace(b"TAG", tag))
        while self.forever is not None:
            writer.write(self.forever)
            await writer.drain()
        if self.answer is None:
            await asyncio.Event().wait()


def _ordinary(name: bytes) -> bytes:
    return {
        b"CAPABILITY": b"* CAPABILITY IMAP4rev1 IDLE\r\n",
        b"LIST": b'* LIST (\\Noselect) "/" ""\r\n',
        b"EXAMINE": b"* 1 EXISTS\r\n* OK [UIDVALIDITY 1] x\r\n* OK [UIDNEXT 2] x\r\n",
        b"UID SEARCH": b"* SEARCH 1\r\n",
        b"UID FETCH": b"* 1 FETCH (UID 1 FLAGS () BODYSTRUCTURE NIL BODY[HEADER] {0}\r\n)\r\n",
    }.get(name, b"")


@asynccontextmanager
async def attacked_by(script: Script) -> AsyncIterator[OpenSource]:
    running: set[asyncio.Task[None]] = set()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        running.add(task)
        await script(reader, writer)

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    config = IMAP.check_config({"host": "127.0.0.1", "port": port, "user": "a@b.example", "security": "none"})
    settings = Settings(_env_file=None, allow_private_addresses=True)
    try:
        yield OpenSource(
            TenantId(uuid4()), SourceId(uuid4()), "imap", None, config, settings, password="geheim"
        )
    finally:
        server.close()
        for task in running:
            task.cancel()
        await asyncio.gather(*running, return_exceptions=True)


async def read_all(source: OpenSource) -> list[Any]:
    async with IMAP.open(source) as reader:
        return [event async for event in reader.read("mail", Cursor(None, is_full=True, is_first=True))]


@pytest.fixture(autouse=True)
def _impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for module, name in ((session, "COMMAND_SECONDS"), (session, "LOGIN_SECONDS"), (wire, "LOGIN_SECONDS")):
        monkeypatch.setattr(module, name, 3.0)


ATTACKS = {
    "a line without an end": (None, b"a" * 65_536),
    "a line of nothing but backslashes in a quote": (b'* 1 FETCH (UID 1 X "' + b"\\a" * 1_000_000, None),
    "a huge literal": (b"* 1 FETCH (UID 1 BODY[] {99999999999}\r\n", None),
    "a literal that is larger than the answer may be": (b"* 1 FETCH (UID 1 BODY[] {900000000}\r\n", None),
    "a literal of more digits than a number has": (
        b"* 1 FETCH (X {" + b"9" * 5_000 + b"}\r\n",
        b"x" * 65_536,
    ),
    "lines without an end": (b"", b"* 1 EXISTS\r\n" * 5_000),
    "silence": (None, None),
    "garbage": (b"\x00\xff\xfe garbage \r\n" * 10, None),
    "lists in lists": (b"* 1 FETCH (UID 1 BODYSTRUCTURE " + b"(" * 100_000 + b"\r\nTAG OK\r\n", None),
    "many values": (b"* 1 FETCH (UID 1 X (" + b"a " * 500_000 + b"))\r\nTAG OK\r\n", None),
    "a closing bracket too many": (b"* 1 FETCH (UID 1)))))\r\nTAG OK\r\n", None),
    "goodbye": (b"* BYE\r\n", None),
    "another tag's end": (b"X99 OK\r\n", None),
}


ONLY_VALUES = ("lists in lists", "many values", "a closing bracket too many")
"""Only the answer to FETCH is read as values."""
CASES = [
    (at, attack)
    for at in ("greeting", "CAPABILITY", "LOGIN", "EXAMINE", "UID SEARCH", "UID FETCH")
    for attack in ATTACKS
    if at == "UID FETCH" or attack not in ONLY_VALUES
]


@pytest.mark.parametrize(("at", "attack"), CASES)
async def test_a_hostile_server_is_refused_within_limits(at: str, attack: str) -> None:
    answer, forever = ATTACKS[attack]
    tracemalloc.start()
    began = asyncio.get_running_loop().time()
    try:
        async with attacked_by(Hostile(at, answer, forever=forever)) as source:
            with pytest.raises(ProviderUnavailable):
                async with asyncio.timeout(60):
                    await read_all(source)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert asyncio.get_running_loop().time() - began < 60
    assert peak < MOST_MEMORY


async def test_the_password_is_not_sent_before_the_server_has_proved_who_it_is() -> None:
    """Somebody in the middle who strips STARTTLS, or puts a login's success behind it, hears no password."""
    for answer in (b"TAG NO\r\n", b"TAG BAD\r\n", b"TAG OK\r\n* CAPABILITY IMAP4rev1\r\nP1 OK\r\nP2 OK\r\n"):
        hostile = Hostile("STARTTLS", answer)
        async with attacked_by(hostile) as plain:
            config = IMAP.check_config({**plain.config, "security": "starttls"})
            source = OpenSource(
                plain.tenant_id, plain.source_id, "imap", None, config, plain.settings, password="geheim"
            )
            with pytest.raises(ProviderUnavailable):
                await read_all(source)
        assert not any(b"LOGIN" in each or b"AUTH" in each or b"geheim" in each for each in hostile.heard)


async def test_what_the_server_says_is_in_no_error() -> None:
    hostile = Hostile("LOGIN", b"TAG NO [AUTHENTICATIONFAILED] geheim is not it, call 0900\r\n")
    async with attacked_by(hostile) as source:
        with pytest.raises(LoginRejected) as rejected:
            await read_all(source)
    assert "geheim" not in str(rejected.value)
    assert "0900" not in str(rejected.value)


async def test_a_server_that_cannot_check_the_login_is_tried_again() -> None:
    async with attacked_by(Hostile("LOGIN", b"TAG NO [UNAVAILABLE] later\r\n")) as source:
        with pytest.raises(ProviderUnavailable):
            await read_all(source)
