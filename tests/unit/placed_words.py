"""Words at places of a page, for tests of its layout."""

from __future__ import annotations

from penstock.pipeline.parse.pdf.words import Word

SIZE = 10.0


def placed(
    x: float, y: float, text: str, *, size: float = SIZE, bold: bool = False, place: int = 0
) -> list[Word]:
    """A line of words, each letter half as wide as the font is high."""
    words = []
    for word in text.split():
        end = x + len(word) * size / 2
        words.append(Word(x, y - 0.2 * size, end, y + size, word, size, bold=False, place=place))
        x, place = end + size / 3, place + 1
    return words


def lines(x: float, top: float, *texts: str, pitch: float = 12.0, place: int = 0) -> list[Word]:
    return [
        word
        for at, text in enumerate(texts)
        for word in placed(x, top - pitch * at, text, place=place + 100 * at)
    ]


def placed_from_right(x: float, y: float, text: str, *, place: int = 0) -> list[Word]:
    """A line of words of a right-to-left script; the first one ends at x."""
    words = []
    for word in text.split():
        start = x - len(word) * SIZE / 2
        words.append(Word(start, y - 0.2 * SIZE, x, y + SIZE, word, SIZE, bold=False, place=place))
        x, place = start - SIZE / 3, place + 1
    return words


def lines_from_right(x: float, top: float, *texts: str, pitch: float = 12.0, place: int = 0) -> list[Word]:
    return [
        word
        for at, text in enumerate(texts)
        for word in placed_from_right(x, top - pitch * at, text, place=place + 100 * at)
    ]
