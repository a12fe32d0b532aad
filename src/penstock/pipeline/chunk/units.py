"""Splits a document into the units that chunks consist of: sentences, items, rows, lines.

Units are streamed and only a window of the text is read: neither a long document nor a long block has to fit
into memory.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.embed.tokens import TokenCounter
from penstock.model.document import Block
from penstock.pipeline.chunk.crowding import joined
from penstock.pipeline.chunk.cutting import SHORT, Cutter
from penstock.pipeline.chunk.heading_text import heading_text
from penstock.pipeline.chunk.titles import TOP, Path, Titles
from penstock.pipeline.chunk.unit import Section, Unit
from penstock.pipeline.chunk.windows import first_visible
from penstock.pipeline.text import Text


def take_apart(
    text: Text,
    blocks: Iterable[Block],
    counter: TokenCounter,
    longest: int,
    most: int,
    *,
    by_word: bool = False,
) -> Iterator[Unit]:
    """Units of about `longest` tokens and never more than `most`, covering all that is not white space."""
    section = Section()
    above: list[tuple[int, Path]] = []  # the levels and paths of the headings that are open
    cut = Cutter(text, counter, longest, most, by_word)
    titles = Titles(counter)
    row: list[Unit] = []
    previous_is_heading = False
    for block in joined(_gapless(text, blocks)):
        kind, start, end, _, level = block
        said = text.slice(start, end) if end - start <= SHORT else ""
        if kind == "heading":
            while above and above[-1][0] >= level:
                above.pop()
            outer = above[-1][1] if above else TOP
            title = heading_text(said or text.slice(start, end))
            path = (*outer[0], title) if title else outer[0]
            if not previous_is_heading:  # headings in a row open one section
                section = Section()
                previous_is_heading = True
            section.path = path
            if said and (unit := cut.only_unit(block, said, section, path)) is not None:
                row.append(unit)
                tokens = titles.tokens(outer[1], title, said, unit.alone)
            else:
                row += cut.units(block, section, path)
                tokens = titles.tokens(outer[1], title)
            section.tokens = tokens
            above.append((level, (path, tokens)))
            continue
        if previous_is_heading:
            yield from row
            row = []
            previous_is_heading = False
        if said and (unit := cut.only_unit(block, said, section)) is not None:
            yield unit
        else:
            yield from cut.units(block, section)
    yield from row


def _gapless(text: Text, blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks, with a paragraph for any text outside of them."""
    at = 0
    for block in blocks:
        _, start, end, _, _ = block
        if at < start and (start - at > SHORT or not text.slice(at, start).isspace()):
            yield from _left_over(text, at, start)
        yield block
        if end > at:
            at = end
    yield from _left_over(text, at, len(text))


def _left_over(text: Text, start: int, end: int) -> Iterator[Block]:
    if start < end and first_visible(text, start, end) < end:
        yield Block("paragraph", start, end)
