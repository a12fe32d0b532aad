"""The pieces that chunks consist of, and how good a place for a cut each begins with."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

# How good a place is for a cut. A heading of level 1 is HEADING + 5, of level 6 or deeper HEADING.
WORD, ROW, SENTENCE, PARAGRAPH, HEADING = 0, 1, 2, 3, 4


@dataclass(slots=True)
class Section:
    """The headings over some units; the last of several headings in a row is known after the first."""

    path: tuple[str, ...] = ()
    tokens: int | None = 0
    """Of the headings joined with ` > `; None if they were not counted."""


class Unit(NamedTuple):
    """Text that is not split: its tokens at a chunk's start and after another unit, its cut's strength.

    A text may have a hundred thousand units per megabyte, and a tuple is made in a third of the time.
    """

    start: int
    end: int
    strength: int
    alone: int
    after: int
    digest: int
    section: Section
    page: int | None
    header: str | None = None
    """The header row, on every later row of a table."""
    heading: tuple[str, ...] | None = None
    """The heading's own path, on the unit where a heading begins."""

    @property
    def path(self) -> tuple[str, ...]:
        """The headings above it, with the header row if it is inside a table."""
        return (*self.section.path, self.header) if self.header else self.section.path


made_unit: Callable[[Iterable[object]], Unit] = partial(tuple.__new__, Unit)
"""A unit from all its fields: without a step of Python, unlike `Unit(…)`."""
