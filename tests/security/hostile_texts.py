"""Texts that make a bad pattern or parser slow, and the call that feeds them to one."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from itertools import product
from typing import Final

import h11
from python_multipart.exceptions import FormParserError

from penstock.errors import PenstockError

HEADER: Final = 64_000
"""The longest header there can be."""


BODY: Final = 1_000_000


def texts(size: int, *pieces: str) -> Iterable[str]:
    """Each piece repeated to the size, alone, after an opening, and before an end that fits nothing."""
    for piece, opening, end in product(pieces, ("", "a;"), ("", "\x0b")):
        yield opening + piece * (size // len(piece)) + end


COMMON: Final = (
    *(
        ";",
        '"',
        "\\",
        '\\"',
        ";a=",
        ';a="',
        ";a=\\",
        " ",
        "\t",
        "\n",
        "\r\n",
        "=",
        ",",
        "a",
        "0",
        ":",
        "@",
        "://:",
    ),
    *(
        "<",
        "<!--x-->",
        "<p ",
        "<p>",
        "[",
        "[a](",
        "](",
        "**",
        "*a",
        "|",
        "|-",
        "-",
        "- ",
        "#",
        "`",
        "(",
        "%",
        "%2",
    ),
    *(
        "é",
        "é ",
        "a.",
        "a@",
        "token=",
        "token ",
        "bearer ",
        "authorization: ",
        "payload=",
        "aB",
        "../",
        "\x00",
        "'",
    ),
)
"""What patterns stumble over: separators, quotes, openings without an end, ambiguous things."""


def each(call: Callable[[str], object], size: int, *pieces: str) -> Callable[[], None]:
    """The call with every hostile text; a refusal is an answer."""

    def run() -> None:
        for text in texts(size, *(pieces or COMMON)):
            with suppress(
                PenstockError, ValueError, RecursionError, FormParserError, h11.RemoteProtocolError
            ):
                call(text)

    return run
