"""The widths of Helvetica's characters, and where its lines break."""

from __future__ import annotations

from collections.abc import Iterator

# Thousandths of the size for the characters from space to tilde.
_WIDTHS = [
    278, 278, 355, 556, 556, 889, 667, 191, 333, 333, 389, 584, 278, 333, 278, 278, 556, 556, 556, 556,
    556, 556, 556, 556, 556, 556, 278, 278, 584, 584, 584, 556, 1015, 667, 667, 722, 722, 667, 611, 778,
    722, 278, 500, 667, 556, 833, 722, 778, 667, 778, 722, 667, 611, 722, 667, 944, 667, 667, 611, 278,
    278, 278, 469, 556, 333, 556, 556, 500, 556, 556, 278, 556, 556, 222, 222, 500, 222, 833, 556, 556,
    556, 556, 333, 500, 278, 556, 500, 722, 500, 500, 500, 334, 260, 334, 584,
]  # fmt: skip
_OTHER = 556


def width(words: str, size: float) -> float:
    """Width in points; a non-ASCII character counts as wide as a digit."""
    codes = (ord(character) - 32 for character in words)
    return sum(_WIDTHS[code] if 0 <= code < len(_WIDTHS) else _OTHER for code in codes) * size / 1_000


def wrapped(words: str, size: float, room: float) -> Iterator[str]:
    """Lines that fit the width; a wider word gets its own line."""
    line: list[str] = []
    filled, space = 0.0, width(" ", size)
    for word in words.split():
        wide = width(word, size)
        if line and filled + space + wide > room:
            yield " ".join(line)
            line, filled = [], 0.0
        filled += wide + (space if line else 0.0)
        line.append(word)
    if line:
        yield " ".join(line)
