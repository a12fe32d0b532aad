"""The values in a response: atoms, texts and lists, read in one pass without recursion."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final, TypeAlias

from penstock.sources.errors import ProviderUnavailable
from penstock.sources.imap.limits import MOST_DEPTH, MOST_VALUES
from penstock.sources.imap.wire import PROVIDER

Value: TypeAlias = "bytes | list[Value] | None"
"""NIL is None; numbers and names stay bytes."""
_ATOM: Final = re.compile(rb'[^\s()"\[]+')


def values_of(parts: Sequence[bytes]) -> list[Value]:
    """The values of a response; every second part is a literal."""
    reading = _Reading()
    for number, part in enumerate(parts):
        if number % 2:
            reading.add(part)
        else:
            reading.text(part)
    return reading.end()


class _Reading:
    def __init__(self) -> None:
        self._whole: list[Value] = []
        self._open: list[list[Value]] = [self._whole]
        self._count = 0

    def add(self, value: Value) -> None:
        self._count += 1
        if self._count > MOST_VALUES:
            raise _unreadable()
        self._open[-1].append(value)

    def text(self, text: bytes) -> None:
        at = 0
        while at < len(text):
            match text[at : at + 1]:
                case b"(":
                    inner: list[Value] = []
                    self.add(inner)
                    self._open.append(inner)
                    if len(self._open) > MOST_DEPTH:
                        raise _unreadable()
                    at += 1
                case b")":
                    if len(self._open) == 1:
                        raise _unreadable()
                    self._open.pop()
                    at += 1
                case b'"':
                    at = self._quoted(text, at + 1)
                case first if first.isspace():
                    at += 1
                case _:
                    at = self._atom(text, at)

    def end(self) -> list[Value]:
        if len(self._open) != 1:
            raise _unreadable()
        return self._whole

    def _quoted(self, text: bytes, at: int) -> int:
        pieces: list[bytes] = []
        quote = -1
        while True:
            if quote < at:
                quote = text.find(b'"', at)
            if quote < 0:
                raise _unreadable()
            escape = text.find(b"\\", at, quote)
            if escape < 0:
                pieces.append(text[at:quote])
                self.add(b"".join(pieces))
                return quote + 1
            pieces += (text[at:escape], text[escape + 1 : escape + 2])
            at = escape + 2

    def _atom(self, text: bytes, at: int) -> int:
        """A name or a number; what is in brackets belongs to it, as in BODY[HEADER.FIELDS (FROM)]<0>."""
        start = at
        while at < len(text):
            if text[at : at + 1] == b"[":
                at = text.find(b"]", at) + 1
                if at == 0:
                    raise _unreadable()
            elif found := _ATOM.match(text, at):
                at = found.end()
            else:
                break
        atom = text[start:at]
        self.add(None if atom.upper() == b"NIL" else atom)
        return at


def number_of(value: Value) -> int | None:
    """A number of the protocol: 32 bits, or 63 for sizes."""
    return int(value) if isinstance(value, bytes) and len(value) <= 19 and value.isdigit() else None


def _unreadable() -> ProviderUnavailable:
    return ProviderUnavailable(PROVIDER, "it sent a response that is not IMAP")
