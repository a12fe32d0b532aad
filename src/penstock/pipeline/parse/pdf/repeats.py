"""Finds headers and footers of a PDF: lines at the edge of many pages that say the same, or count pages."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.pipeline.parse.pdf.lines import WIDE_GAP, line_text, main_size
from penstock.pipeline.parse.pdf.words import Word, place_of, size_of

WINDOW = 4
"""A page is compared with this many before it and after it."""
_MOST_LINES = 3
_FEWEST_PAGES = 3
_NEAR = 3.0
_GAP = 0.5
"""In font sizes: what at least separates a header from the text below it."""
_LARGEST = 1.2
"""In the page's usual font sizes: a larger line is a heading."""
_MOST_PARTS = 3
"""Left, middle and right; a line with more is the header row of a table."""
_APART = (*range(-WINDOW, 0), *range(1, WINDOW + 1))
_NUMBER = re.compile(r"(\d{1,9})")

Key = tuple[str, ...]
"""The text before, between and after the numbers of a line: one part more than it has numbers."""


class EdgeLine(NamedTuple):
    """A line at the top or the bottom of a page."""

    key: Key
    numbers: tuple[int, ...]
    middle: float
    text: str
    places: frozenset[int]


_NONE: dict[Key, list[EdgeLine]] = {}


@dataclass(slots=True)
class Repeats:
    """What repeats in a document; the first occurrence of a line stays in the text."""

    edges: dict[int, list[EdgeLine]] = field(default_factory=dict)
    alike: dict[int, dict[Key, list[EdgeLine]]] = field(default_factory=dict)
    """The edge lines of each page by what they say."""
    first: dict[tuple[Key, int], str] = field(default_factory=dict)
    counts: dict[int, int] = field(default_factory=dict)
    """How many words each page has."""

    def add(self, page: int, lines: Sequence[list[Word]]) -> None:
        """The words of a page by line, from the top."""
        self.counts[page] = sum(map(len, lines))
        self.edges[page] = list(_edge_lines(lines))
        self.alike[page] = {}
        for line in self.edges[page]:
            self.alike[page].setdefault(line.key, []).append(line)

    def dropped(self, page: int) -> set[int]:
        """The places of words on this page that other pages around it repeat."""
        found: set[int] = set()
        for line in self.edges.pop(page, ()):
            if not self._repeats(page, line):
                continue
            known = (line.key, round(line.middle / (4 * _NEAR)))
            if any((line.key, known[1] + near) in self.first for near in (-1, 0, 1)):
                found |= line.places
            else:
                self.first[known] = line.text
        self.alike.pop(page - 2 * WINDOW, None)
        return found if len(found) < self.counts.pop(page, 0) else set()  # no page is emptied

    def _repeats(self, page: int, line: EdgeLine) -> bool:
        same, key, lowest, highest = 1, line.key, line.middle - _NEAR, line.middle + _NEAR
        for left, apart in enumerate(_APART, start=1 - len(_APART)):
            for other in self.alike.get(page + apart, _NONE).get(key, ()):
                if lowest <= other.middle <= highest and _counts(line, other, apart):
                    same += 1
                    break
            if same >= _FEWEST_PAGES:
                return True
            if same - left < _FEWEST_PAGES:
                return False  # the pages that are left are too few
        return False


def _counts(line: EdgeLine, other: EdgeLine, apart: int) -> bool:
    """Whether the numbers of two lines that say the same are equal, or differ as those of their pages."""
    for first, second in zip(line.numbers, other.numbers, strict=True):  # all() takes longer
        if second not in (first, first + apart):
            return False
    return True


def _edge_lines(found: Sequence[list[Word]]) -> Iterator[EdgeLine]:
    """Up to three lines at the top and at the bottom that a gap separates from the text."""
    if len(found) < 2:
        return
    sizes = list(map(size_of, itertools.chain.from_iterable(found)))
    is_even = sizes.count(sizes[0]) == len(sizes)
    usual = sizes[0] if is_even else main_size(list(itertools.chain.from_iterable(found)))
    for lines in (found[: _MOST_LINES + 1], found[: -_MOST_LINES - 2 : -1]):
        count = 0
        for at, (one, other) in enumerate(itertools.pairwise(lines), start=1):
            if _gap(one, other) > _GAP * usual:
                count = at
        for line in lines[: min(count, len(found) - 1)]:
            if (is_even or main_size(line) <= _LARGEST * usual) and _gaps(line) < _MOST_PARTS:
                yield _edge_line(line)


def _edge_line(line: list[Word]) -> EdgeLine:
    text = line_text(line)
    parts = _NUMBER.split(text)
    sizes = list(map(size_of, line))
    return EdgeLine(
        tuple(parts[::2]),
        tuple(map(int, parts[1::2])),
        line[sizes.index(max(sizes))].middle,
        text,
        frozenset(map(place_of, line)),
    )


def _gaps(line: list[Word]) -> int:
    return sum([other.left - one.right > WIDE_GAP * one.size for one, other in itertools.pairwise(line)])


def _gap(one: list[Word], other: list[Word]) -> float:
    """The white space between two lines, whichever is above."""
    upper, lower = (one, other) if one[0].middle > other[0].middle else (other, one)
    return min([word.bottom for word in upper]) - max([word.top for word in lower])
