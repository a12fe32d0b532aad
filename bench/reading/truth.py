"""What a generated document contains, and how much of it a reader found."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Truth:
    """A file and what a person reads in it."""

    path: Path
    kind: str
    """The family it is counted under: pdf, docx, scan, …"""
    text: str
    """Every word a person reads, in reading order."""
    tables: tuple[tuple[tuple[str, ...], ...], ...] = ()
    """Rows of cells."""
    headings: tuple[tuple[str, ...], ...] = ()
    """The path of each heading, itself included."""
    order: tuple[str, ...] = ()
    """Phrases that occur once, in the order of reading."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What a reader made of a file."""

    text: str
    headings: tuple[tuple[str, ...], ...] = ()


@dataclass(frozen=True, slots=True)
class Scores:
    """Each from 0 to 1; None where the document has nothing of that kind."""

    words: float
    precision: float
    """The share of the reader's words that are in the document."""
    cells: float | None
    headings: float | None
    order: float | None


def scores(truth: Truth, reading: Reading) -> Scores:
    return Scores(
        words=_recall(truth.text, reading.text),
        precision=_recall(reading.text, truth.text),
        cells=_cells(truth.tables, reading.text) if truth.tables else None,
        headings=_headings(truth.headings, reading.headings) if truth.headings else None,
        order=_order(truth.order, reading.text) if len(truth.order) > 1 else None,
    )


def words(text: str) -> list[str]:
    return _WORD.findall(text.casefold())


def _recall(said: str, found: str) -> float:
    wanted, got = Counter(words(said)), Counter(words(found))
    return sum((wanted & got).values()) / max(1, wanted.total())


def _cells(tables: Iterable[Sequence[Sequence[str]]], text: str) -> float:
    """The share of cells that one line of the text has in the order of their row."""
    lines = [f" {' '.join(words(line))} " for line in text.splitlines()]
    total = found = 0
    for row in (row for table in tables for row in table):
        cells = [" ".join(words(cell)) for cell in row if words(cell)]
        total += len(cells)
        found += max((_in_order(cells, line) for line in lines), default=0)
    return found / max(1, total)


def _in_order(cells: Sequence[str], line: str) -> int:
    at = found = 0
    for cell in cells:
        place = line.find(f" {cell} ", at)
        if place >= 0:
            at, found = place + len(cell) + 1, found + 1
    return found


def _headings(wanted: Sequence[tuple[str, ...]], found: Iterable[tuple[str, ...]]) -> float:
    """The share of headings that are the end of some path, below the same parent if they have one."""
    ends = {tuple(_plain(each) for each in path[-2:]) for path in found}
    ends |= {path[-1:] for path in ends}
    return sum(tuple(_plain(each) for each in path[-2:]) in ends for path in wanted) / len(wanted)


def _order(phrases: Sequence[str], text: str) -> float:
    """The share of pairs of neighbours that the text has in this order."""
    said = " ".join(words(text))
    places = [said.find(_plain(phrase)) for phrase in phrases]
    pairs = [(one, other) for one, other in itertools.pairwise(places)]
    return sum(0 <= one < other for one, other in pairs) / len(pairs)


def _plain(text: str) -> str:
    return " ".join(words(text))
