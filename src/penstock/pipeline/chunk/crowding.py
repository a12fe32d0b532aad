"""Joins pieces of a text that is crowded with tiny ones, so that a million of them cost no more than prose.

A unit takes the same time whether it has three characters or three hundred. Where the last few hundred pieces
were tiny, those that follow are joined until they have the length of a sentence; other text is not touched.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.model.document import Block

_WINDOW = 512
TINY = 24
"""Characters per piece, on average over the window, below which a text is crowded."""
_TINY_HEADING = 8
"""Headings count for more: only those that are a letter or two are joined."""
_ENOUGH = 160


@dataclass(slots=True)
class Crowding:
    """Watches how much text lies between the cuts of a document."""

    count: int = 0
    start: int = 0
    average: float = TINY

    def add(self, end: int, cuts: int = 1) -> None:
        self.count += cuts
        if self.count == _WINDOW:
            self.average = (end - self.start) / _WINDOW
            self.count, self.start = 0, end

    def joins(self, start: int, end: int) -> bool:
        """Whether what ends here is joined with what follows."""
        return self.average < TINY and end - start < _ENOUGH

    def joins_all(self, length: int, cuts: int) -> bool:
        """Whether a text of this length is one piece in spite of these cuts."""
        return self.average < TINY and length < _ENOUGH and self.count + cuts < _WINDOW


def joined(blocks: Iterable[Block]) -> Iterator[Block]:
    """The blocks; where they are crowded, neighbours of the same kind, level and page are one block."""
    crowding = Crowding()
    held: Block | None = None
    add = crowding.add
    for block in blocks:
        kind, start, end, page, level = block
        add(end)
        if held is not None:
            alike = (held.kind, held.level, held.page) == (kind, level, page)
            if alike and end - held.start < _ENOUGH and kind != "table":
                held = Block(kind, held.start, end, page, level)
                continue
            yield held
            held = None
        average = crowding.average
        if average < TINY and (average < _TINY_HEADING or kind != "heading") and end - start < _ENOUGH:
            held = block
        else:
            yield block
    if held is not None:
        yield held
