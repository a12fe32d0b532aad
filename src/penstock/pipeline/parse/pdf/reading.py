"""Our own reading of a PDF: pages from placed words, with headings, tables, columns and repeated lines."""

from __future__ import annotations

import re
from collections.abc import Container, Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.pipeline.parse.pdf.headings import Outline, set_levels
from penstock.pipeline.parse.pdf.hyphens import Hyphens
from penstock.pipeline.parse.pdf.layout import columns_of, read_in_order
from penstock.pipeline.parse.pdf.lines import Piece, main_size, pieces, pieces_of, rows
from penstock.pipeline.parse.pdf.paragraphs import Paragraph, paragraphs
from penstock.pipeline.parse.pdf.repeats import WINDOW, Repeats
from penstock.pipeline.parse.pdf.rules import RuledLine
from penstock.pipeline.parse.pdf.signs import PageSigns, measured
from penstock.pipeline.parse.pdf.tables import ruled_tables
from penstock.pipeline.parse.pdf.words import AFTER_ALL, Word, place_of, turned_line
from penstock.pipeline.parse.table import markdown_table

_MARKUP = re.compile(r"^( {0,3})(?=#{1,6}(?:[ \t]|$)|`{3}|~{3}|=++[ \t]*+$|-{2,}+[ \t]*+$)", re.M)
_MARKUP_SIGNS = "#`~=-"


@dataclass(frozen=True, slots=True)
class PlacedPage:
    """What is drawn on a page: words by direction, and lines."""

    number: int
    words: dict[int, list[Word]]
    rules: tuple[RuledLine, ...] = ()


@dataclass(frozen=True, slots=True)
class ReadPage:
    paragraphs: list[Paragraph]
    dropped: str
    """Headers and footers that stand on an earlier page."""
    fields: str = ""
    """The values of form fields, which pdfium's text does not have."""
    signs: PageSigns = field(default_factory=PageSigns)


@dataclass(frozen=True, slots=True)
class Layout:
    """All pages by number; `repeated` has each header and footer once."""

    pages: dict[int, ReadPage]
    repeated: tuple[str, ...]

    def markdown(self, number: int, hyphens: Hyphens) -> str:
        return hyphens.joined("\n\n".join(map(_markdown, self.pages[number].paragraphs)))


class _Waiting(NamedTuple):
    """A page that is read when the next few are known; the lines are those of its main direction."""

    page: PlacedPage
    main: int
    lines: list[list[Word]]


def read_layout(placed: Iterable[PlacedPage], outline: Outline) -> Layout:
    """Read each page as soon as the next few are known, so that only those are held with their words."""
    repeats = Repeats()
    waiting: list[_Waiting] = []
    read: dict[int, ReadPage] = {}
    for page in placed:
        main = _main_turn(page)
        one = _Waiting(page, main, rows(page.words.get(main, [])))
        repeats.add(page.number, one.lines)
        waiting.append(one)
        if len(waiting) > WINDOW:
            one = waiting.pop(0)
            read[one.page.number] = _read(one, repeats)
    for one in waiting:
        read[one.page.number] = _read(one, repeats)
    set_levels([page.paragraphs for page in read.values()], outline)
    return Layout(read, tuple(dict.fromkeys(repeats.first.values())))


def escaped(text: str) -> str:
    """Text without lines that look like Markdown's headings and code."""
    return _MARKUP.sub(r"\1\\", text) if any(map(text.__contains__, _MARKUP_SIGNS)) else text


def _read(waiting: _Waiting, repeats: Repeats) -> ReadPage:
    page, main = waiting.page, waiting.main
    away = repeats.dropped(page.number)
    found: list[Paragraph] = []
    dropped: list[str] = []
    kept: list[Word] = []
    lines: list[Piece] = []
    columns = 0
    for turn in sorted(page.words, key=lambda each: (each != main, each)):
        words = page.words[turn]
        known = waiting.lines if turn == main else None
        if turn == main and away:
            dropped = [word.text for word in words if word.place in away]
            words = [word for word in words if word.place not in away]
            known = _without(waiting.lines, away, len(words))
        made: list[Paragraph] = []
        if turn < 0:
            made = _askew(words)
        elif words:
            tables, rest = ruled_tables(words, [RuledLine(*turned_line(turn, *rule)) for rule in page.rules])
            outside = pieces_of(known) if known and rest is words else pieces(rest)
            parts = read_in_order([*tables, *outside])
            made = paragraphs(parts, main_size(words))
            columns = max(columns, columns_of(parts))
            lines += outside
        if turn != main:
            for one in made:
                one.aside = True
        found += made
        kept += words
    fields = ""
    if max(map(place_of, kept), default=0) >= AFTER_ALL:
        fields = " ".join([word.text for word in kept if word.place >= AFTER_ALL])
    return ReadPage(found, " ".join(dropped), fields, measured(kept, lines, found, columns))


def _without(lines: list[list[Word]], away: Container[int], words: int) -> list[list[Word]] | None:
    """The lines between those left out at the top and at the bottom; None if others are left out, too.

    Without a line between them, words of two lines may turn out to stand on one.
    """
    first, end = 0, len(lines)
    while first < end and lines[first][0].place in away:
        first += 1
    while end > first and lines[end - 1][0].place in away:
        end -= 1
    return lines[first:end] if sum(map(len, lines[first:end])) == words else None


def _main_turn(page: PlacedPage) -> int:
    upright = {turn: words for turn, words in page.words.items() if turn >= 0}
    if len(upright) == 1:
        return next(iter(upright))
    return max(upright, key=lambda turn: sum(len(word.text) for word in upright[turn]), default=0)


def _askew(words: Sequence[Word]) -> list[Paragraph]:
    """A stamp or a watermark: its words as the file has them."""
    text = " ".join(word.text for word in words)
    return [Paragraph(text, main_size(words), bold=False)] if text else []


def _markdown(one: Paragraph) -> str:
    if one.rows:
        return markdown_table(one.rows)
    if one.level:
        return f"{'#' * one.level} {' '.join(one.text.split())}"
    return escaped(one.text)
