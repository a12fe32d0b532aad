"""Cuts blocks into units of bounded length: sentences, items, rows, lines, or runs of words."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from zlib import crc32

from penstock.embed.tokens import LONGEST_WORD, SLICE, TokenCounter
from penstock.model.document import Block
from penstock.pipeline.chunk.crowding import Crowding
from penstock.pipeline.chunk.unit import HEADING, PARAGRAPH, ROW, SENTENCE, WORD, Section, Unit
from penstock.pipeline.chunk.windows import cuts, first_visible, last_visible, words
from penstock.pipeline.text import Text

_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+(?=[^\sa-z])|[。！？][」』”’）]*\s*|\n[ \t]*\n\s*")  # noqa: RUF001
_MAY_END = re.compile(r"[.!?…。！？\n]")  # noqa: RUF001  # what every end of a sentence has: a quick search
_LINE_END = re.compile(r"\n\s*")
_SLICE = 32
_PROSE = ("paragraph", "heading")
SHORT = 256
"""A block that may be one sentence, item or row."""
_LONG = 65_536
"""A longer piece is read whole only if it can fit into a unit."""
_LEARNED = 262_144
_MEASURED = 20_000


def _is_one_piece(piece: str, is_prose: bool) -> bool:
    if not piece or piece[0].isspace() or piece[-1].isspace():
        return False
    if not is_prose:
        return "\n" not in piece
    return _MAY_END.search(piece) is None or _SENTENCE_END.search(piece) is None


@dataclass(slots=True)
class Cutter:
    text: Text
    counter: TokenCounter
    longest: int
    most: int
    by_word: bool
    last_end: int = 0
    learned: int = 0
    crowding: Crowding = field(default_factory=Crowding)
    measured: dict[tuple[int, str], tuple[int, int, int]] = field(default_factory=dict)
    """Tokens and digest of short pieces by the gap before them and their text: many occur again and again."""

    def units(self, block: Block, section: Section, heading: tuple[str, ...] | None = None) -> Iterator[Unit]:
        """The units of a block; a heading's first one knows its path."""
        strength = HEADING + 6 - min(6, max(1, block.level)) if block.kind == "heading" else PARAGRAPH
        header: str | None = None
        for start, end, strength_inside in self._pieces(block):
            self._learn(end)
            fitting = self._fitting(start, end, strength or strength_inside, section, block.page, header)
            for unit in fitting:
                yield unit if heading is None else unit._replace(heading=heading)
                heading = None
            if block.kind == "table" and header is None:
                header = " ".join(self.text.slice(start, end).split())
            strength = 0

    def only_unit(
        self, block: Block, piece: str, section: Section, heading: tuple[str, ...] | None = None
    ) -> Unit | None:
        """The unit of a short block that `units` would not split, in less time; otherwise None."""
        if not _is_one_piece(piece, block.kind in _PROSE) or self.by_word:
            return None
        start, end, strength = block.start, block.end, PARAGRAPH
        if end > self.learned:
            self._learn(end)
        alone, after, digest = self._measure(start, end)
        if alone > self.longest:
            return None
        self.last_end = end
        self.crowding.add(end)
        if block.kind == "heading":
            strength = HEADING + 6 - min(6, max(1, block.level))
        return Unit(start, end, strength, alone, after, digest, section, block.page, None, heading)

    def _learn(self, end: int) -> None:
        """Count the tokens ahead at once, which is faster than sentence by sentence."""
        while self.learned < min(end, self.last_end + _LEARNED):
            self.counter.learn(self.text.slice(self.learned, self.learned + _LEARNED))
            self.learned += _LEARNED

    def _pieces(self, block: Block) -> Iterator[tuple[int, int, int]]:
        """Start, end and strength of each sentence, item, row or line of a block."""
        pattern = _SENTENCE_END if block.kind in _PROSE else _LINE_END
        inside = ROW if block.kind in ("table", "code") else SENTENCE
        text, at, strength = self.text, block.start, PARAGRAPH
        if block.end - at <= SHORT and _is_one_piece(text.slice(at, block.end), block.kind in _PROSE):
            self.crowding.add(block.end)
            yield at, block.end, strength
            return
        header = block.start if block.kind == "table" else -1  # it is not joined with the rows
        for found_end, lines in cuts(text, pattern, block.start, block.end):
            self.crowding.add(found_end)
            if self.crowding.joins(at, found_end) and at != header:
                continue
            if end := last_visible(text, at, found_end):
                yield first_visible(text, at, end), end, strength
                strength = inside
            at = found_end
            if pattern is _SENTENCE_END and lines > 1:
                strength = PARAGRAPH
        if end := last_visible(text, at, block.end):
            yield first_visible(text, at, end), end, strength

    def _fitting(
        self, start: int, end: int, strength: int, section: Section, page: int | None, header: str | None
    ) -> Iterator[Unit]:
        """The piece as one unit, or several if it is too long."""
        if not self.by_word and not self._surely_too_long(start, end):
            unit = self._unit(start, end, strength, section, page, header)
            if unit.alone <= self.longest:
                self.last_end = end
                yield unit
                return
        for part_start, part_end in self._groups(start, end, by_word=self.by_word):
            unit = self._unit(part_start, part_end, strength, section, page, header)
            if unit.alone <= self.most:
                self.last_end = part_end
                yield unit
            else:  # by the white space between its words, tabs for example
                for word_start, word_end in self._groups(part_start, part_end, by_word=True):
                    yield self._unit(word_start, word_end, strength, section, page, header)
                    self.last_end, strength = word_end, WORD
            strength = WORD

    def _surely_too_long(self, start: int, end: int) -> bool:
        if end - start <= _LONG:
            return False
        taken = 0
        for at in range(start, end, SLICE):
            taken += self.counter.count_after(self.text.slice(at, min(at + SLICE, end)))
            if taken > 2 * self.longest + SLICE // 64:
                return True
        return False

    def _unit(
        self, start: int, end: int, strength: int, section: Section, page: int | None, header: str | None
    ) -> Unit:
        alone, after, digest = self._measure(start, end)
        return Unit(start, end, strength, alone, after, digest, section, page, header)

    def _measure(self, start: int, end: int) -> tuple[int, int, int]:
        """The tokens of a piece on its own and after what is before it, and its digest."""
        gap = start - self.last_end
        whole = self.text.slice(self.last_end, end)
        measured = self.measured.get((gap, whole))
        if measured is None:
            piece = whole[gap:] if gap >= 0 else self.text.slice(start, end)
            alone, after = self.counter.count_both(whole, piece)
            measured = alone, after, crc32(piece.encode("utf-8", "surrogatepass"))
            if len(whole) <= SHORT and gap >= 0 and len(self.measured) < _MEASURED:
                self.measured[gap, whole] = measured
        return measured

    def _groups(self, start: int, end: int, *, by_word: bool) -> Iterator[tuple[int, int]]:
        """Runs of words, split where a word's digest says so: at the same words even after an insertion."""
        first, cost = start, 0
        last = start
        for word_start, word_end, word in words(self.text, start, end):
            if word_end > self.learned:
                self._learn(word_end)
            taken = self._cost(word_start, word_end, word)
            if cost and cost + taken > self.longest:
                yield first, last
                first, cost = word_start, 0
            if taken > self.longest:
                yield from self._slices(word_start, word_end)
                first, last, cost = word_end, word_end, 0
                continue
            if not cost:
                first = word_start
            cost, last = cost + taken, word_end
            if by_word or self._ends_a_group(word_start, word_end, word):
                yield first, last
                cost = 0
        if cost:
            yield first, last

    def _cost(self, start: int, end: int, word: str | None) -> int:
        """The tokens of a word; for a very long one only as many as make it too long."""
        if word is not None and len(word) <= LONGEST_WORD:
            return self.counter.count_word(word)
        taken = 0
        for at in range(start, end, SLICE):
            taken += self.counter.count(self.text.slice(at, min(at + SLICE, end)))
            if taken > self.longest:
                break
        return taken

    def _ends_a_group(self, start: int, end: int, word: str | None) -> bool:
        whole = self.text.slice(start, end) if word is None else word
        return crc32(whole.encode("utf-8", "surrogatepass")) % 16 == 0

    def _slices(self, start: int, end: int) -> Iterator[tuple[int, int]]:
        """A word too long for a unit, by characters."""
        size = max(1, min(_SLICE, self.longest // 5))
        for at in range(start, end, size):
            yield at, min(at + size, end)
