"""Decides where chunks begin, by the nearby text only, never by how much came before.

A boundary is an anchor when no stronger one lies within half a chunk on either side. Strength is structure
first (headings, paragraphs, sentences), then a digest of the words that follow. So an insertion moves anchors
only around itself, and everything beyond the next anchor is cut as it was.

Units are streamed; those since the last anchor are held in memory. If none comes for `_STRETCH` chunks (the
same line a million times), the held units are cut without waiting for the next anchor.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import islice
from typing import NamedTuple

from penstock.pipeline.chunk.unit import Unit

_STRETCH = 200


def pack(
    units: Iterable[tuple[Unit, int]], radius: int, room: int, strongest: int
) -> Iterator[tuple[Unit, ...]]:
    """Ranges of units, each within the smallest of their limits; `strongest` caps structure."""
    packing = _Packing(radius, room * _STRETCH, strongest)
    yield from packing.ranges(units)
    yield from packing.end()


def pack_greedily(units: Iterable[tuple[Unit, int]]) -> Iterator[tuple[Unit, ...]]:
    """Fill ranges greedily: each range depends on everything before it."""
    held: list[Unit] = []
    taken = most = 0
    for unit, limit in units:
        if held and taken + unit.after > most:
            yield tuple(held)
            held = []
        taken, most = (taken + unit.after, most) if held else (unit.alone, limit)
        held.append(unit)
    if held:
        yield tuple(held)


class _Placed(NamedTuple):
    """A unit with its boundary's key and the tokens before it."""

    unit: Unit
    key: int
    position: int
    number: int


_placed: Callable[[Iterable[object]], _Placed] = partial(tuple.__new__, _Placed)


@dataclass(slots=True)
class _Packing:
    radius: int
    stretch: int
    strongest: int
    held: deque[_Placed] = field(default_factory=deque)
    """The units since the last anchor or cut."""
    window: deque[_Placed] = field(default_factory=deque)
    """Units within the radius behind, greatest key first."""
    candidate: _Placed | None = None
    """A boundary stronger than all before it within the radius; the following units decide."""
    certain: list[_Placed] = field(default_factory=list)
    """Anchors behind the candidate."""
    position: int = 0
    """The tokens of all units so far."""
    limit: int = 0
    """The smallest limit of the units since the last anchor."""
    limits: deque[int] = field(default_factory=deque)

    def ranges(self, units: Iterable[tuple[Unit, int]]) -> Iterator[tuple[Unit, ...]]:
        """Each range as soon as the units that complete it are known."""
        radius, strongest, stretch = self.radius, self.strongest, self.stretch
        held, limits, window = self.held, self.limits, self.window
        position = 0
        for number, (unit, limit) in enumerate(units):
            _, _, strength, alone, after, digest, _, _, _, _ = unit
            key = (strength if strength < strongest else strongest) << 32 | digest
            placed = _placed((unit, key, position, number))
            candidate = self.candidate
            if candidate is not None and (position - candidate.position >= radius or key > candidate.key):
                yield from self._decide(candidate, position)
            while window and position - window[0].position >= radius:
                window.popleft()
            if number:
                if after - alone > radius:  # this much white space would fill a chunk
                    if self.candidate is None:
                        yield from self._anchor(placed)
                    else:
                        self.certain.append(placed)
                elif position >= radius and (not window or window[0].key < key):
                    self.candidate = placed
            while window and window[-1].key <= key:
                window.pop()
            window.append(placed)
            held.append(placed)
            limits.append(limit)
            self.position = position = position + after
            if position - held[0].position > stretch:
                yield from self._cut_ahead()

    def end(self) -> Iterator[tuple[Unit, ...]]:
        if self.candidate is not None and self.candidate.position <= self.position - self.radius:
            yield from self._anchor(self.candidate)
        for anchor in self.certain:
            yield from self._anchor(anchor)
        if self.held:
            yield from self._split(len(self.held), self.position)

    def _decide(self, candidate: _Placed, position: int) -> Iterator[tuple[Unit, ...]]:
        """The candidate is an anchor if nothing stronger came within the radius; certain ones are anyway."""
        far = position - candidate.position >= self.radius
        anchors = [candidate, *self.certain] if far else self.certain
        self.candidate, self.certain = None, []
        for anchor in anchors:
            yield from self._anchor(anchor)

    def _anchor(self, anchor: _Placed) -> Iterator[tuple[Unit, ...]]:
        """Emit everything before it."""
        yield from self._split(anchor.number - self.held[0].number if self.held else 0, anchor.position)
        self.limit = 0

    def _split(self, last: int, position: int) -> Iterator[tuple[Unit, ...]]:
        """Cut the first units that are held, up to an anchor, into ranges within the limit."""
        if not last:
            return
        least = min(islice(self.limits, last))
        limit = min(self.limit, least) if self.limit else least
        while last:
            total = self._tokens(position)
            if total <= limit or last == 1:
                yield self._put_out(last)
                return
            if total <= 2 * limit:  # two even halves
                low, high = max(total - limit, limit // 4), min(limit, total - limit // 4)
            else:
                low, high = limit // 2, limit
            cut = _best_cut(list(islice(self.held, self._enough(last, high))), low, high, total)
            yield self._put_out(cut)
            last -= cut

    def _cut_ahead(self) -> Iterator[tuple[Unit, ...]]:
        """Cut what no later anchor can change: all but the last two chunks' worth before the next one."""
        known = [self.candidate, *self.certain][0 if self.candidate is not None else 1 :]
        position = known[0].position if known and known[0] is not None else self.position
        least = min(self.limits)
        self.limit = limit = min(self.limit, least) if self.limit else least
        while self._tokens(position) > 2 * limit:
            total = self._tokens(position)
            near = list(islice(self.held, self._enough(len(self.held), limit)))
            yield self._put_out(_best_cut(near, limit // 2, limit, total))

    def _tokens(self, position: int) -> int:
        """The tokens of the held units up to a position."""
        first = self.held[0]
        return first.unit.alone + position - first.position - first.unit.after

    def _enough(self, last: int, high: int) -> int:
        """How many units it takes to look beyond `high` tokens; no more than `last`."""
        first = self.held[0]
        most = high + first.position + first.unit.after
        for number, placed in enumerate(self.held):
            if number >= last or placed.position > most:
                return min(last, number + 1)
        return last

    def _put_out(self, count: int) -> tuple[Unit, ...]:
        limits, held = self.limits, self.held
        for _ in range(count):
            limits.popleft()
        return tuple([held.popleft().unit for _ in range(count)])


def _best_cut(held: list[_Placed], low: int, high: int, total: int) -> int:
    """The strongest boundary after `low` to `high` tokens; if there is none, the last before."""
    best, best_rank = 0, (-1, 0)
    fallback = 1
    before = held[0].position + held[0].unit.after - held[0].unit.alone
    is_near_end = total <= 2 * high
    for at in range(1, len(held)):
        _, key, position, _ = held[at]
        taken = position - before
        if taken > high:
            break
        fallback = at
        if taken >= low and key >> 32 >= best_rank[0]:
            rank = (key >> 32, -abs(2 * taken - total) if is_near_end else key)
            if rank > best_rank:
                best, best_rank = at, rank
    return best or fallback
