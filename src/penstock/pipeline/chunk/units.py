"""Takes a parsed document apart into the units chunks are packed of: sentences, items, rows, lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from zlib import crc32

from penstock.model.document import Block, Parsed
from penstock.pipeline.chunk.tokens import TokenCounter

# How much a place invites a cut. A heading of level 1 is HEADING + 5, of level 6 or deeper HEADING.
WORD, ROW, SENTENCE, PARAGRAPH, HEADING = 0, 1, 2, 3, 4

_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+(?=[^\sa-z])|[。！？][」』”’）]*\s*|\n[ \t]*\n\s*")  # noqa: RUF001
_LINE_END = re.compile(r"\n\s*")
_WORD = re.compile(r"\S+")
_SLICE = 32


@dataclass(frozen=True, slots=True)
class Unit:
    """Text that stays whole: its tokens first in a chunk and after another, how strong a cut before it is."""

    start: int
    end: int
    strength: int
    alone: int
    after: int
    digest: int
    section: int
    page: int | None
    header: str | None = None
    """The header row, on every later row of a table."""


@dataclass(frozen=True, slots=True)
class Taken:
    """A document taken apart; `sections` are the headings over each section."""

    units: tuple[Unit, ...]
    sections: tuple[tuple[str, ...], ...]


def take_apart(parsed: Parsed, counter: TokenCounter, longest: int, *, by_word: bool = False) -> Taken:
    """Units of at most `longest` tokens, in order, covering all that is not white space."""
    counter.learn(parsed.text)
    units: list[Unit] = []
    sections: list[tuple[str, ...]] = [()]
    above: list[tuple[int, str]] = []
    cut = _Cutter(parsed.text, counter, longest, by_word)
    previous_is_heading = False
    for block in _gapless(parsed):
        if block.kind == "heading":
            above = [(level, title) for level, title in above if level < block.level]
            above.append((block.level, heading_text(parsed.text[block.start : block.end])))
            path = tuple(title for _, title in above if title)
            if previous_is_heading:  # headings in a row open one section
                sections[-1] = path
            else:
                sections.append(path)
        previous_is_heading = block.kind == "heading"
        units.extend(cut.units(block, len(sections) - 1))
    return Taken(tuple(units), tuple(sections))


def heading_text(text: str) -> str:
    """A heading as one line, without the marks of its markup."""
    return " ".join(text.strip().strip("#=").split())


def _gapless(parsed: Parsed) -> Iterator[Block]:
    """The blocks, and a paragraph for any text a parser left outside of them."""
    at = 0
    for block in parsed.blocks:
        yield from _left_over(parsed.text, at, block.start)
        yield block
        at = max(at, block.end)
    yield from _left_over(parsed.text, at, len(parsed.text))


def _left_over(text: str, start: int, end: int) -> Iterator[Block]:
    if start < end and not text[start:end].isspace():
        yield Block("paragraph", start, end)


@dataclass(slots=True)
class _Cutter:
    text: str
    counter: TokenCounter
    longest: int
    by_word: bool
    last_end: int = 0

    def units(self, block: Block, section: int) -> Iterator[Unit]:
        strength = HEADING + 6 - min(6, max(1, block.level)) if block.kind == "heading" else PARAGRAPH
        header: str | None = None
        for start, end, strength_inside in self._pieces(block):
            yield from self._fitting(start, end, strength or strength_inside, section, block.page, header)
            if block.kind == "table" and header is None:
                header = " ".join(self.text[start:end].split())
            strength = 0

    def _pieces(self, block: Block) -> Iterator[tuple[int, int, int]]:
        """Start, end and strength of each sentence, item, row or line of a block."""
        pattern = _SENTENCE_END if block.kind in ("paragraph", "heading") else _LINE_END
        inside = ROW if block.kind in ("table", "code") else SENTENCE
        text, at, strength = self.text, block.start, PARAGRAPH
        for found in pattern.finditer(text, block.start, block.end):
            if end := self._trimmed(at, found.end()):
                yield _after_space(text, at, end), end, strength
                strength = inside
            at = found.end()
            if pattern is _SENTENCE_END and found.group().count("\n") > 1:
                strength = PARAGRAPH
        if end := self._trimmed(at, block.end):
            yield _after_space(text, at, end), end, strength

    def _trimmed(self, start: int, end: int) -> int:
        """Where the text from start to end ends without its white space; 0 when nothing is left."""
        return start + len(stripped) if (stripped := self.text[start:end].rstrip()) else 0

    def _fitting(
        self, start: int, end: int, strength: int, section: int, page: int | None, header: str | None
    ) -> Iterator[Unit]:
        """The piece as a unit, or as several when it is too long for one."""
        unit = self._unit(start, end, strength, section, page, header)
        if not self.by_word and unit.alone <= self.longest:
            self.last_end = end
            yield unit
            return
        for part_start, part_end in self._groups(start, end):
            yield self._unit(part_start, part_end, strength, section, page, header)
            self.last_end = part_end
            strength = WORD

    def _unit(
        self, start: int, end: int, strength: int, section: int, page: int | None, header: str | None
    ) -> Unit:
        piece = self.text[start:end]
        alone = self.counter.count(piece)
        after = self.counter.count_after(self.text[self.last_end : end])
        digest = crc32(piece.encode("utf-8", "surrogatepass"))
        return Unit(start, end, strength, alone, after, digest, section, page, header)

    def _groups(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """Runs of words, ended where a word's digest says so: at the same words after an insertion."""
        first, cost = start, 0
        last = start
        for found in _WORD.finditer(self.text, start, end):
            word = found.group()
            taken = self.counter.count(word)
            if cost and cost + taken > self.longest:
                yield first, last
                first, cost = found.start(), 0
            if taken > self.longest:
                yield from self._slices(found.start(), found.end())
                first, last, cost = found.end(), found.end(), 0
                continue
            if not cost:
                first = found.start()
            cost, last = cost + taken, found.end()
            if self.by_word or crc32(word.encode("utf-8", "surrogatepass")) % 16 == 0:
                yield first, last
                cost = 0
        if cost:
            yield first, last

    def _slices(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """A word too long for a unit, by characters."""
        size = max(1, min(_SLICE, self.longest // 5))
        for at in range(start, end, size):
            yield at, min(at + size, end)


def _after_space(text: str, start: int, end: int) -> int:
    while start < end and text[start].isspace():
        start += 1
    return start


def path_at(taken: Taken, units: Sequence[Unit]) -> tuple[str, ...]:
    """The headings over the first of these units, with the header row when they begin inside a table."""
    path = taken.sections[units[0].section]
    return (*path, units[0].header) if units[0].header else path
