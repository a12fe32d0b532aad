"""Splits rich text (RTF) into tokens in linear time."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"\\([a-zA-Z]{1,32})(-?\d{1,10})?[ ]?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|([^\\{}\r\n]+)|[\r\n]++"
)


class Token(NamedTuple):
    """One of: a control word with its number, a byte, a symbol, a brace, text."""

    word: str = ""
    number: int | None = None
    byte: int | None = None
    symbol: str = ""
    brace: str = ""
    text: str = ""


def tokens(source: str) -> Iterator[Token]:
    """The tokens of a file decoded as Latin-1; binary data is left out."""
    at = 0
    match = _TOKEN.match
    while found := match(source, at):
        at = found.end()
        word, number, byte, symbol, brace, text = found.groups()
        if text is not None:
            yield Token(text=text)
        elif word is not None:
            value = int(number) if number is not None else None
            if word == "bin":
                at += max(0, value or 0)
            else:
                yield Token(word, value)
        elif brace is not None:
            yield Token(brace=brace)
        elif byte is not None:
            yield Token(byte=int(byte, 16))
        elif symbol is not None:
            yield Token(symbol=symbol)
