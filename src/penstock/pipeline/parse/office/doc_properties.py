"""Reads the formatting of a DOC file: properties of paragraphs and characters by position, and styles."""

from __future__ import annotations

import struct
from bisect import bisect_right
from collections.abc import Iterator
from typing import NamedTuple

_PAGE = 512
_SIZES = {0: 1, 1: 1, 2: 2, 3: 4, 4: 2, 5: 2, 7: 3}
_LONG_LENGTHS = {0xD608, 0xC615}
_MOST_PAGES = 200_000

IN_TABLE, ROW_END, LIST, DEPTH, OUTLINE = 0x2416, 0x2417, 0x460B, 0x260A, 0x2640
DELETED, HIDDEN = 0x0800, 0x083C
_TITLE = 62
_BODY_LEVEL = 9

Changes = dict[int, int]
"""What a run of formatting sets, by the number of the property."""


class Run(NamedTuple):
    start: int
    end: int
    style: int
    changes: Changes


class Runs:
    """Formatting by its position in the file."""

    def __init__(self, document: bytes, table: bytes, *, of_paragraphs: bool) -> None:
        self._runs = sorted(_runs(document, table, of_paragraphs))
        self._starts = [run.start for run in self._runs]

    def at(self, position: int) -> Run | None:
        place = bisect_right(self._starts, position) - 1
        if place < 0 or self._runs[place].end <= position:
            return None
        return self._runs[place]

    def removed(self) -> list[tuple[int, int]]:
        """Where text is hidden or deleted."""
        return [
            (run.start, run.end) for run in self._runs if run.changes.get(HIDDEN) or run.changes.get(DELETED)
        ]


def _runs(document: bytes, table: bytes, of_paragraphs: bool) -> Iterator[Run]:
    count = (len(table) - 4) // 8
    for at in range(min(max(0, count), _MOST_PAGES)):
        (page,) = struct.unpack_from("<I", table, 4 * (count + 1) + 4 * at)
        held = document[(page & 0x3FFFFF) * _PAGE : ((page & 0x3FFFFF) + 1) * _PAGE]
        if len(held) == _PAGE:
            yield from _page(held, of_paragraphs)


def _page(page: bytes, of_paragraphs: bool) -> Iterator[Run]:
    count = page[-1]
    entry = 13 if of_paragraphs else 1
    if 4 * (count + 1) + entry * count > _PAGE:
        return
    for at in range(count):
        start, end = struct.unpack_from("<II", page, 4 * at)
        place = 2 * page[4 * (count + 1) + entry * at]
        style, changes = 0, b""
        if place and of_paragraphs:
            size = 2 * page[place] - 1 if page[place] else 2 * page[place + 1]
            place += 1 if page[place] else 2
            held = page[place : place + size]
            if len(held) >= 2:
                (style,) = struct.unpack_from("<H", held)
                changes = held[2:]
        elif place:
            changes = page[place + 1 : place + 1 + page[place]]
        yield Run(start, end, style, changes_of(changes))


def changes_of(data: bytes) -> Changes:
    """The single properties of a list of them; values longer than four bytes are left out."""
    found: Changes = {}
    at = 0
    while at + 2 < len(data):
        (number,) = struct.unpack_from("<H", data, at)
        at += 2
        size = _SIZES.get(number >> 13)
        if size is None:  # the length comes first
            if number in _LONG_LENGTHS and at + 2 <= len(data):
                size = 1 + struct.unpack_from("<H", data, at)[0]
            else:
                size = 1 + data[at]
        else:
            found[number] = int.from_bytes(data[at : at + size], "little")
        at += size
    return found


class DocStyles:
    """The heading level and the list of each paragraph style."""

    def __init__(self, sheet: bytes) -> None:
        self._known: dict[int, tuple[int, int, Changes]] = {}
        """By number: which built-in style it is, the one it is based on, and what it sets."""
        if len(sheet) < 6:
            return
        head, count, base = struct.unpack_from("<HHH", sheet)
        at = 2 + head
        for number in range(min(count, 4_096)):
            if at + 2 > len(sheet):
                return
            (size,) = struct.unpack_from("<H", sheet, at)
            held = sheet[at + 2 : at + 2 + size]
            at += 2 + size
            if len(held) >= max(8, base + 2):
                self._add(number, held, base)

    def level(self, style: int) -> int:
        for _ in range(20):
            if style not in self._known:
                return style if 1 <= style <= 9 else 0
            built_in, base, changes = self._known[style]
            if 1 <= built_in <= 9:
                return built_in
            if built_in == _TITLE:
                return 1
            if changes.get(OUTLINE, _BODY_LEVEL) < _BODY_LEVEL:
                return changes[OUTLINE] + 1
            style = base
        return 0

    def setting(self, style: int, number: int) -> int:
        """What a style, or one it is based on, sets for a property; 0 if nothing."""
        for _ in range(20):
            if style not in self._known:
                return 0
            _, base, changes = self._known[style]
            if number in changes:
                return changes[number]
            style = base
        return 0

    def _add(self, number: int, held: bytes, base: int) -> None:
        first, second = struct.unpack_from("<HH", held)
        if second & 0xF != 1:  # not a paragraph's style
            return
        (length,) = struct.unpack_from("<H", held, base)
        at = base + 2 + 2 * (length + 1)
        changes: Changes = {}
        if at + 2 <= len(held):
            (size,) = struct.unpack_from("<H", held, at)
            changes = changes_of(held[at + 4 : at + 2 + size])
        self._known[number] = (first & 0xFFF, second >> 4, changes)
