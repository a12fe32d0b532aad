"""Joins pieces of a text that is crowded with tiny ones, so that a million of them cost no more than prose.

A unit takes the same time whether it has three characters or three hundred. Where the last few hundred pieces
were tiny, those that follow are joined until they have the length of a sentence; other text is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.model.document import Block

_WINDOW = 512
_TINY = 24
"""Characters per piece, on average over the window, below which a text is crowded."""
_TINY_HEADING = 8
"""Headings count for more: only those that are a letter or two are joined."""
_ENOUGH = 160


@dataclass(slots=True)
class Crowding:
    """Watches how much text lies between the cuts of a document."""

    count: int = 0
    start: int = 0
    average: float = _TINY

    def add(self, end: int) -> None:
        self.count += 1
        if self.count == _WINDOW:
            self.average = (end - self.start) / _WINDOW
            self.count, self.start = 0, end

    def joins(self, start: int, end: int) -> bool:
        """Whether what ends here is joined with what follows."""
        return self.average < _TINY and end - start < _ENOUGH


def joined(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks; where they are crowded, neighbours of the same kind, level and page are one block."""
    crowding = Crowding()
    held: Block | None = None
    for block in blocks:
        crowding.add(block.end)
        if held is not None:
            alike = (held.kind, held.level, held.page) == (block.kind, block.level, block.page)
            if alike and block.end - held.start < _ENOUGH and block.kind != "table":
                held = Block(held.kind, held.start, block.end, held.page, held.level)
                continue
            yield held
            held = None
        if (
            crowding.average < _TINY
            and (crowding.average < _TINY_HEADING or block.kind != "heading")
            and crowding.joins(block.start, block.end)
        ):
            held = block
        else:
            yield block
    if held is not None:
        yield held
