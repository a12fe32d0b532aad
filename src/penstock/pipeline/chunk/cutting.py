"""Cuts blocks into units of bounded length: sentences, items, rows, lines, or runs of words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from zlib import crc32

from penstock.embed.tokens import LONGEST_WORD, SLICE, TokenCounter
from penstock.model.document import Block
from penstock.pipeline.chunk.crowding import Crowding
from penstock.pipeline.chunk.pieces import NEAR, far_pieces, is_one_piece, joined_ends, near_pieces
from penstock.pipeline.chunk.unit import HEADING, PARAGRAPH, WORD, Section, Unit, made_unit
from penstock.pipeline.chunk.windows import words
from penstock.pipeline.text import Text

_SLICE = 32
SHORT = 256
"""A block that may be one sentence, item or row."""
_LONG = 65_536
"""A longer piece is read whole only if it can fit into a unit."""
_LEARNED = 262_144
_MEASURED = 20_000


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
        page = block.page
        for start, end, strength_inside in self._pieces(block):
            if end > self.learned:
                self._learn(end)
            strength = strength or strength_inside
            if (unit := self._whole(start, end, strength, section, page, header, heading)) is not None:
                yield unit
                heading = None
            else:
                for part in self._parts(start, end, strength, section, page, header):
                    yield part if heading is None else part._replace(heading=heading)
                    heading = None
            if header is None and block.kind == "table":
                header = " ".join(self.text.slice(start, end).split())
            strength = 0

    def only_unit(
        self, block: Block, piece: str, section: Section, heading: tuple[str, ...] | None = None
    ) -> Unit | None:
        """The unit of a short block that `units` would not split, in less time; otherwise None."""
        kind, start, end, page, level = block
        ends = 1
        if self.by_word or not (
            is_one_piece(piece, kind) or (ends := joined_ends(piece, kind, self.crowding))
        ):
            return None
        if end > self.learned:
            self._learn(end)
        gap = start - self.last_end
        whole = self.text.slice(self.last_end, end)
        measured = self.measured.get((gap, whole)) or self._measure_anew(gap, whole, piece)
        alone, after, digest = measured
        if alone > self.longest:
            return None
        self.last_end = end
        self.crowding.add(end, ends)
        strength = HEADING + 6 - min(6, max(1, level)) if kind == "heading" else PARAGRAPH
        return made_unit((start, end, strength, alone, after, digest, section, page, None, heading))

    def _learn(self, end: int) -> None:
        """Count the tokens ahead at once, which is faster than sentence by sentence."""
        while self.learned < min(end, self.last_end + _LEARNED):
            self.counter.learn(self.text.slice(self.learned, self.learned + _LEARNED))
            self.learned += _LEARNED

    def _pieces(self, block: Block) -> Iterable[tuple[int, int, int]]:
        """Start, end and strength of each sentence, item, row or line of a block."""
        kind, start, end, _, _ = block
        if end - start > NEAR:
            return far_pieces(self.text, block, self.crowding)
        piece = self.text.slice(start, end)
        if 0 < len(piece) <= SHORT and is_one_piece(piece, kind):
            self.crowding.add(end)
            return ((start, end, PARAGRAPH),)
        return near_pieces(piece, start, kind, self.crowding)

    def _whole(
        self,
        start: int,
        end: int,
        strength: int,
        section: Section,
        page: int | None,
        header: str | None,
        heading: tuple[str, ...] | None,
    ) -> Unit | None:
        """The piece as one unit, if it is not too long."""
        if self.by_word or (end - start > _LONG and self._surely_too_long(start, end)):
            return None
        alone, after, digest = self._measure(start, end)
        if alone > self.longest:
            return None
        self.last_end = end
        return made_unit((start, end, strength, alone, after, digest, section, page, header, heading))

    def _parts(
        self, start: int, end: int, strength: int, section: Section, page: int | None, header: str | None
    ) -> Iterator[Unit]:
        """The units of a piece that is too long for one."""
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
            measured = self._measure_anew(gap, whole, piece)
        return measured

    def _measure_anew(self, gap: int, whole: str, piece: str) -> tuple[int, int, int]:
        if gap == 1 and whole[0] == " " and "<" not in whole:
            alone = after = self.counter.count_after(whole)  # a space is part of the word after it
        else:
            alone, after = self.counter.count_both(whole, piece)
        measured = alone, after, crc32(piece.encode("utf-8", "surrogatepass"))
        if len(self.measured) < _MEASURED and len(whole) <= SHORT and gap >= 0:
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
