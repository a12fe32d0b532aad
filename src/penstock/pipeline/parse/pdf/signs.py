"""Measures how much of a PDF page a reading keeps: its words, the order of lines, rows of tables."""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from operator import truediv
from statistics import fmean
from typing import NamedTuple

from penstock.pipeline.parse.pdf.lines import Piece, from_the_right, is_dense, is_right_to_left, rows
from penstock.pipeline.parse.pdf.paragraphs import Paragraph
from penstock.pipeline.parse.pdf.words import AFTER_ALL, Word, place_of

_TOKEN = re.compile(r"\w+")
_FEWEST_PAIRS = 8
"""Fewer neighbours say too little about the order."""
_LINE_OF_PROSE = 4
"""Words; fewer may be a label or a value, which have their place beside and not below each other."""
_NEXT_LINE = 2.0
"""In font sizes: how far below a line the next one of its column is at most."""
_MOST_ROWS = 20
"""Rows of a table that are compared with a line; the rarest word of a line is hardly in more."""

_RIGHT_EDGE = -1e6
"""Keeps the right edges, at which lines of right-to-left scripts begin, apart from left edges."""

Pair = tuple[str, str]


class _Spoken(NamedTuple):
    """A line with where it begins and the tokens of each word in the order of reading."""

    edge: float
    line: Piece
    said: list[list[str]]


class _Compared(NamedTuple):
    """What the layout and pdfium's order keep, as shares, and how much more pdfium's order keeps."""

    ours: float = 1.0
    plain: float = 1.0
    behind: int = 0


@dataclass(frozen=True, slots=True)
class PageSigns:
    """What can be measured of the layout of a page and of pdfium's order of its words; shares from 0 to 1."""

    columns: int = 0
    tables: int = 0
    missing: int = 0
    """Words of the page that the layout does not have."""
    order: float = 1.0
    """Neighbours on the page, in a line or across its end, that the layout has side by side."""
    plain_order: float = 1.0
    pairs_behind: int = 0
    """How many more neighbours pdfium's order has side by side; less than zero if it has fewer."""
    rows: float = 1.0
    """Lines across a table whose words the layout has in one row."""
    plain_rows: float = 1.0
    rows_behind: int = 0

    def described(self) -> str:
        """What the layout found: `2 columns, 1 table`."""
        found = ((self.columns, "column"), (self.tables, "table"))
        return ", ".join(f"{count} {name}{'s' if count > 1 else ''}" for count, name in found if count)


def measured(
    words: Sequence[Word], lines: Sequence[Piece], made: Sequence[Paragraph], columns: int
) -> PageSigns:
    """The signs of a page: its words without those left out on purpose, its lines, and what was made."""
    whole = " ".join([word.text for word in words])
    tables = [one.rows for one in made if one.rows]
    places = list(map(place_of, words))
    is_drawn_so = places == sorted(places) and (not places or places[-1] < AFTER_ALL)
    if is_drawn_so and not tables and not is_dense(whole) and whole == _said_by(made):
        return PageSigns(columns)  # as on most pages
    kept = [word for word in words if not is_dense(word.text)] if is_dense(whole) else words
    drawn = sorted([word for word in kept if word.place < AFTER_ALL], key=place_of)
    said = " ".join([word.text for word in drawn])
    found = list(_tokens_of(made))
    plain = _TOKEN.findall(said)
    if plain == found and len(drawn) == len(words):
        return PageSigns(columns, len(tables))
    wanted = Counter(_TOKEN.findall(" ".join([word.text for word in kept])))
    missing = (wanted - Counter(found)).total()
    found = [token for token in found if not is_dense(token)]
    if plain == found:
        return PageSigns(columns, len(tables), missing)
    order = _order(lines, made, found, plain)
    in_rows = _rows(drawn, tables) if tables else _Compared()
    return PageSigns(columns, len(tables), missing, *order, *in_rows)


def _said_by(made: Iterable[Paragraph]) -> str:
    return " ".join(" ".join([one.text for one in made]).split())


def _tokens_of(made: Iterable[Paragraph]) -> Iterator[str]:
    for one in made:
        for text in itertools.chain.from_iterable(one.rows) if one.rows else (one.text,):
            yield from _TOKEN.findall(text)


def _order(
    lines: Sequence[Piece], made: Sequence[Paragraph], found: Sequence[str], plain: Sequence[str]
) -> _Compared:
    """The neighbours that the layout keeps, and that pdfium's order keeps.

    Without the values of form fields, which pdfium has not, and without words of scripts without spaces.
    """
    prose = set(_tokens_of(one for one in made if not one.rows))
    said = {word.text for line in lines for word in line.words}
    tokens = {text: [] if is_dense(text) else _TOKEN.findall(text) for text in said}
    spoken = [
        _Spoken(edge, line, [tokens[word.text] if word.place < AFTER_ALL else [] for word in words])
        for line in lines
        if line.words
        for edge, words in (_in_order(line),)
    ]
    beside = Counter(_beside(each.said for each in spoken))
    below = Counter(pair for pair in _below(spoken) if pair[0] in prose and pair[1] in prose)
    # The two count the same: a page read across its columns loses none of the many pairs inside lines.
    kinds = [pairs for pairs in (beside, below) if pairs.total() >= _FEWEST_PAIRS]
    if not kinds:
        return _Compared()
    totals = [pairs.total() for pairs in kinds]
    ours, theirs = (
        [_kept(pairs, got) for pairs in kinds]
        for got in (Counter(itertools.pairwise(tokens)) for tokens in (found, plain))
    )
    share, plain_share = (fmean(map(truediv, kept, totals)) for kept in (ours, theirs))
    return _Compared(share, plain_share, sum(theirs) - sum(ours))


def _kept(wanted: Counter[Pair], got: Counter[Pair]) -> int:
    return sum(map(min, wanted.values(), map(got.get, wanted, itertools.repeat(0))))


def _beside(lines: Iterable[list[list[str]]]) -> Iterator[Pair]:
    for said in lines:
        for one, other in itertools.pairwise(said):
            if one and other:
                yield one[-1], other[0]


def _below(lines: Iterable[_Spoken]) -> Iterator[Pair]:
    """The end of a line of prose and the start of the next one that begins at the same place."""
    above: dict[int, tuple[Piece, str]] = {}
    for edge, line, said in lines:  # from the top
        if len(said) < _LINE_OF_PROSE or not said[0] or not said[-1]:
            continue
        at = round(edge / max(1.0, line.size))
        for near in (at, at - 1, at + 1):
            if near in above:
                upper, end = above[near]
                if 0.5 * line.size < upper.middle - line.middle < _NEXT_LINE * line.size:
                    yield end, said[0][0]
                    del above[near]
                    break
        above[at] = line, said[-1][-1]


def _in_order(line: Piece) -> tuple[float, Sequence[Word]]:
    """The edge at which a line begins, and its words in the order of reading."""
    if is_right_to_left(line.text):
        return _RIGHT_EDGE - line.right, from_the_right(line.words)
    return line.left, line.words


def _rows(drawn: Sequence[Word], tables: Sequence[list[list[str]]]) -> _Compared:
    """The lines of tables with all words in one row, and one after the other in pdfium's order."""
    cells = [frozenset(_TOKEN.findall(" ".join(row))) for table in tables for row in table]
    places: dict[str, list[int]] = {}
    for number, tokens in enumerate(cells):
        for token in tokens:
            places.setdefault(token, []).append(number)
    seen = whole = plain = 0
    for line in rows(drawn):
        tokens = frozenset(token for word in line for token in _TOKEN.findall(word.text))
        if len(tokens) < 2 or not all(token in places for token in tokens):
            continue  # it is not part of a table
        seen += 1
        rarest = min((places[token] for token in tokens), key=len)
        whole += any(tokens <= cells[number] for number in rarest[:_MOST_ROWS])
        at = [word.place for word in line]
        plain += max(at) - min(at) == len(at) - 1
    return _Compared(whole / seen, plain / seen, plain - whole) if seen else _Compared()
