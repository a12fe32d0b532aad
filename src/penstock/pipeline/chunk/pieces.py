"""Finds the sentences, items, rows and lines of a block; crowded ones are joined to one piece."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.model.document import Block, BlockKind
from penstock.pipeline.chunk.crowding import TINY, Crowding
from penstock.pipeline.chunk.unit import PARAGRAPH, ROW, SENTENCE
from penstock.pipeline.chunk.windows import cuts, first_visible, last_visible
from penstock.pipeline.text import Text

_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s+(?=[^\sa-z])|[。！？][」』”’）]*\s*|\n[ \t]*\n\s*")  # noqa: RUF001
_MAY_END = re.compile(r"[.!?…。！？\n]")  # noqa: RUF001  # what every end of a sentence has: a quick search
_LINE_END = re.compile(r"\n\s*")
_PROSE = ("paragraph", "heading")
NEAR = 16_384
"""A block of up to this many characters is read at once."""

Piece = tuple[int, int, int]
"""Start, end and strength."""


def is_one_piece(said: str, kind: BlockKind) -> bool:
    """Whether a block that says this has no end of a sentence or line inside."""
    if said[0].isspace() or said[-1].isspace():
        return False
    if kind not in _PROSE:
        return "\n" not in said
    return _MAY_END.search(said) is None or _SENTENCE_END.search(said) is None


def joined_ends(said: str, kind: BlockKind, crowding: Crowding) -> int:
    """How many ends of sentences or lines are in a block so crowded that all are joined; else 0."""
    if kind == "table" or said[0].isspace() or said[-1].isspace():
        return 0
    ends = len(_end_of(kind).findall(said))
    return ends if crowding.joins_all(len(said), ends) else 0


def near_pieces(said: str, start: int, kind: BlockKind, crowding: Crowding) -> Iterator[Piece]:
    """The pieces of a block that starts there and says this; what `far_pieces` finds, in less time."""
    pattern = _end_of(kind)
    inside = ROW if kind in ("table", "code") else SENTENCE
    at, strength = 0, PARAGRAPH
    header = 0 if kind == "table" else -1  # it is not joined with the rows
    for found in pattern.finditer(said):
        end = found.end()
        crowding.add(start + end)
        if crowding.average < TINY and crowding.joins(at, end) and at != header:
            continue
        if piece := said[at:end].strip():
            first = start + said.index(piece[0], at)
            yield first, first + len(piece), strength
            strength = inside
        at = end
        if pattern is _SENTENCE_END and found[0].count("\n") > 1:
            strength = PARAGRAPH
    if piece := said[at:].strip():
        first = start + said.index(piece[0], at)
        yield first, first + len(piece), strength


def far_pieces(text: Text, block: Block, crowding: Crowding) -> Iterator[Piece]:
    """The pieces of a block that may be longer than what fits into memory."""
    pattern = _end_of(block.kind)
    inside = ROW if block.kind in ("table", "code") else SENTENCE
    at, strength = block.start, PARAGRAPH
    header = block.start if block.kind == "table" else -1
    for found_end, lines in cuts(text, pattern, block.start, block.end):
        crowding.add(found_end)
        if crowding.joins(at, found_end) and at != header:
            continue
        if end := last_visible(text, at, found_end):
            yield first_visible(text, at, end), end, strength
            strength = inside
        at = found_end
        if pattern is _SENTENCE_END and lines > 1:
            strength = PARAGRAPH
    if end := last_visible(text, at, block.end):
        yield first_visible(text, at, end), end, strength


def _end_of(kind: BlockKind) -> re.Pattern[str]:
    return _SENTENCE_END if kind in _PROSE else _LINE_END
