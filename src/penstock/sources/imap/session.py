"""One logged-in IMAP connection: folders are only examined, and no flag is ever changed."""

from __future__ import annotations

import asyncio
import base64
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Final, Literal

from penstock.sources.errors import LoginRejected, ProviderUnavailable
from penstock.sources.imap.folder_names import encoded
from penstock.sources.imap.limits import COMMAND_SECONDS, LOGIN_SECONDS, LONGEST_LINE, SMALL
from penstock.sources.imap.server import MailServer
from penstock.sources.imap.values import Value, number_of, values_of
from penstock.sources.imap.wire import PROVIDER, AnswerBudget, ImapWire, open_wire

_PASSING: Final = (b"UNAVAILABLE", b"INUSE", b"LIMIT", b"SERVERBUG", b"OVERQUOTA")
"""Codes of a rejection that another attempt may not meet."""


@dataclass(frozen=True, slots=True)
class ImapAnswer:
    """How a command ended, its code in brackets, and what the server said before."""

    status: Literal["OK", "NO", "BAD"]
    code: bytes
    untagged: Sequence[Sequence[bytes]]

    @property
    def is_passing(self) -> bool:
        return self.code.partition(b" ")[0] in _PASSING


@dataclass(frozen=True, slots=True)
class ImapFolder:
    """An examined folder; `uidnext` is larger than the number of every mail in it."""

    name: str
    uidvalidity: int
    uidnext: int


class Session:
    """Commands run one after the other; after a failure the connection is closed."""

    def __init__(self, wire: ImapWire) -> None:
        self._wire = wire
        self._lock = asyncio.Lock()
        self._number = 0
        self._folder: ImapFolder | None = None
        self._separator: str | None = None
        self.capabilities: frozenset[bytes] = frozenset()

    @asynccontextmanager
    async def on(self, name: str) -> AsyncIterator[tuple[Session, ImapFolder | None]]:
        """Hold the connection with this folder examined; None if there is no such folder."""
        async with self._lock:
            if self._folder is None or self._folder.name != name:
                self._folder = await self._examine(name)
            yield self, self._folder

    async def examine_again(self, name: str) -> ImapFolder | None:
        """The folder as it is now."""
        async with self._lock:
            self._folder = await self._examine(name)
            return self._folder

    async def search(self, criteria: str) -> Sequence[int]:
        """The numbers of the mails that match, in their order; call it inside `on`."""
        answer = await self.command(f"UID SEARCH {criteria}".encode(), limit=LONGEST_LINE)
        found: set[int] = set()
        for parts in answer.untagged:
            if parts[0][:8].upper() == b"* SEARCH":
                # Half a million numbers take a while.
                found |= await asyncio.to_thread(_numbers, parts[0][8:])
        return sorted(found)

    async def fetch(self, uid: int, items: str, *, limit: int) -> Mapping[bytes, Value] | None:
        """Items of one mail by their names in upper case; None if it is gone. Call it inside `on`."""
        answer = await self.command(f"UID FETCH {uid} ({items})".encode(), limit=limit)
        for parts in answer.untagged:
            if parts[0][:2] != b"* " or b" FETCH " not in parts[0][:40].upper():
                continue
            values = values_of(parts)
            listed = values[3] if len(values) > 3 else None
            if isinstance(listed, list):
                found = {_name(listed[at]): listed[at + 1] for at in range(0, len(listed) - 1, 2)}
                # Servers may tell about other mails at any time.
                if number_of(found.get(b"UID")) == uid:
                    return found
        return None

    async def idle(self, seconds: float) -> bool:
        """Wait until the server tells of a new mail; False if it did not within this time."""
        async with self._lock:
            budget = AnswerBudget(SMALL)
            tag = await self._send(b"IDLE")
            async with _in_time():
                while not (line := await self._wire.line()).startswith(b"+"):
                    budget.take(len(line) + 1)
                    if line.startswith(tag):
                        raise ProviderUnavailable(PROVIDER, "it does not wait for new mails")
            has_arrived = False
            try:
                async with asyncio.timeout(seconds):
                    while not has_arrived:
                        # Lines only: nothing that a server says while it waits has literals.
                        line = await self._wire.line()
                        budget.take(len(line) + 1)
                        _refuse_bye(line)
                        has_arrived = _is_arrival(line)
            except TimeoutError:
                pass
            await self._wire.send(b"DONE\r\n")
            answer = await self._answer(tag, budget)
            return has_arrived or any(_is_arrival(parts[0]) for parts in answer.untagged)

    async def command(self, text: bytes, *, limit: int = SMALL) -> ImapAnswer:
        """Run a command that must succeed."""
        answer = await self.attempt(text, limit=limit)
        if answer.status != "OK":
            what = text.split(b" ", 2)[:2] if text.startswith(b"UID") else text.split(b" ", 1)[:1]
            raise ProviderUnavailable(PROVIDER, f"it answered {answer.status} to {b' '.join(what).decode()}")
        return answer

    async def attempt(self, text: bytes, *, limit: int = SMALL, seconds: float | None = None) -> ImapAnswer:
        tag = await self._send(text)
        return await self._answer(tag, AnswerBudget(limit), seconds)

    async def separator(self) -> str:
        """What is between the name of a folder and the one in it."""
        if self._separator is None:
            self._separator = "/"
            for parts in (await self.command(b'LIST "" ""')).untagged:
                values = values_of(parts)
                if len(values) > 3 and values[1] == b"LIST" and isinstance(values[3], bytes):
                    self._separator = values[3].decode("latin-1")
        return self._separator

    async def log_in(self, server: MailServer, password: str) -> None:
        await self._read_capabilities()
        plain = base64.b64encode(f"\0{server.user}\0{password}".encode())
        if b"AUTH=PLAIN" in self.capabilities:
            initial = b"SASL-IR" in self.capabilities
            tag = await self._send(b"AUTHENTICATE PLAIN" + (b" " + plain if initial else b""))
            if not initial:
                async with _in_time(LOGIN_SECONDS):
                    prompt = await self._wire.line()
                if not prompt.startswith(b"+"):
                    raise ProviderUnavailable(PROVIDER, "it announced a login that it does not offer")
                await self._wire.send(plain + b"\r\n")
            answer = await self._answer(tag, AnswerBudget(SMALL), LOGIN_SECONDS)
        elif b"LOGINDISABLED" in self.capabilities:
            raise LoginRejected(PROVIDER, "it offers no login by password")
        else:
            user, secret = (_quoted(each) for each in (server.user, password))
            answer = await self.attempt(b"LOGIN " + user + b" " + secret, seconds=LOGIN_SECONDS)
        if answer.status != "OK":
            if answer.is_passing:
                raise ProviderUnavailable(PROVIDER, "it cannot check the login at the moment")
            raise LoginRejected(PROVIDER, "it rejects the login")
        await self._read_capabilities()

    async def greet(self) -> None:
        async with _in_time(LOGIN_SECONDS):
            greeting = await self._wire.line()
        if greeting[:4].upper() != b"* OK":
            raise ProviderUnavailable(PROVIDER, "it did not greet as an IMAP server does")

    async def _examine(self, name: str) -> ImapFolder | None:
        self._folder = None
        separator = await self.separator()
        path = name if name.upper() != "INBOX" else "INBOX"
        mailbox = _quoted(encoded(path.replace("/", separator) if separator else path))
        answer = await self.attempt(b"EXAMINE " + mailbox)
        if answer.status != "OK":
            if answer.is_passing or await self._is_listed(mailbox):
                raise ProviderUnavailable(PROVIDER, f"it answered {answer.status} to EXAMINE")
            return None
        known = {b"UIDVALIDITY": 0, b"UIDNEXT": 0}
        for parts in answer.untagged:
            code = _code(parts[0][5:]).split() if parts[0][:5].upper() == b"* OK " else []
            if len(code) > 1 and code[0] in known and (number := number_of(code[1])) is not None:
                known[code[0]] = number
        uidnext = known[b"UIDNEXT"] or max(await self.search("UID *"), default=0) + 1
        return ImapFolder(name, known[b"UIDVALIDITY"], uidnext)

    async def _is_listed(self, mailbox: bytes) -> bool:
        """Whether there is a folder of this name that holds mails."""
        for parts in (await self.command(b'LIST "" ' + mailbox)).untagged:
            if parts[0][:6].upper() == b"* LIST" and b"\\noselect" not in parts[0].lower():
                return b"\\nonexistent" not in parts[0].lower()
        return False

    async def _read_capabilities(self) -> None:
        for parts in (await self.command(b"CAPABILITY")).untagged:
            if parts[0][:12].upper() == b"* CAPABILITY":
                self.capabilities = frozenset(parts[0].upper().split()[2:])

    async def _send(self, text: bytes) -> bytes:
        self._number += 1
        tag = f"P{self._number} ".encode()
        async with _in_time():
            await self._wire.send(tag + text + b"\r\n")
        return tag

    async def _answer(self, tag: bytes, budget: AnswerBudget, seconds: float | None = None) -> ImapAnswer:
        untagged: list[Sequence[bytes]] = []
        async with _in_time(seconds):
            while True:
                parts = await self._wire.response(budget)
                first = parts[0]
                if first.startswith(tag):
                    status = first[len(tag) :].split(b" ", 1)[0].upper()
                    rest = first[len(tag) + len(status) + 1 :]
                    for known in ("OK", "NO", "BAD"):
                        if status == known.encode():
                            return ImapAnswer(known, _code(rest), untagged)
                    raise ProviderUnavailable(PROVIDER, "it sent a response that is not IMAP")
                _refuse_bye(first)
                if not first.startswith((b"* ", b"+")):
                    raise ProviderUnavailable(PROVIDER, "it sent a response that is not IMAP")
                untagged.append(parts)


@asynccontextmanager
async def open_session(server: MailServer, password: str, *, allow_private: bool) -> AsyncIterator[Session]:
    """LoginRejected if the server does not accept the password; it is sent to a checked server only."""
    wire = await open_wire(server, allow_private=allow_private)
    try:
        session = Session(wire)
        if server.security != "starttls":
            await session.greet()
        await session.log_in(server, password)
        yield session
    finally:
        wire.close()


@asynccontextmanager
async def _in_time(seconds: float | None = None) -> AsyncIterator[None]:
    try:
        async with asyncio.timeout(COMMAND_SECONDS if seconds is None else seconds):
            yield
    except TimeoutError:
        raise ProviderUnavailable(PROVIDER, "no answer in time") from None


def _refuse_bye(line: bytes) -> None:
    if line[:5].upper() == b"* BYE":
        raise ProviderUnavailable(PROVIDER, "it closed the connection")


def _is_arrival(line: bytes) -> bool:
    return line[:2] == b"* " and line.rstrip()[-7:].upper() == b" EXISTS"


def _code(text: bytes) -> bytes:
    """What is in brackets at the beginning of a status text."""
    if not text.startswith(b"["):
        return b""
    return text[1:1_000].partition(b"]")[0].upper()


def _numbers(text: bytes) -> set[int]:
    return {int(each) for each in text.split() if len(each) <= 10 and each.isdigit()}


def _name(value: Value) -> bytes:
    return value.upper() if isinstance(value, bytes) else b""


def _quoted(text: str) -> bytes:
    return b'"' + text.encode().replace(b"\\", b"\\\\").replace(b'"', b'\\"') + b'"'
