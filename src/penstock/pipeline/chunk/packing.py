"""Decides where chunks begin, by what the text says nearby and never by how much came before.

A boundary is an anchor when no stronger one lies within half a chunk on either side. Strength is structure
first (headings, paragraphs, sentences), then a digest of the words that follow. So an insertion moves anchors
only around itself, and everything beyond the next anchor is cut as it was.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator, Sequence
from itertools import accumulate, pairwise

from penstock.pipeline.chunk.units import Unit


def pack(
    units: Sequence[Unit], limits: Sequence[int], radius: int, strongest: int
) -> Iterator[tuple[int, int]]:
    """Ranges of units, each within the least of their limits; `strongest` caps what structure counts."""
    keys = [min(unit.strength, strongest) << 32 | unit.digest for unit in units]
    positions = list(accumulate((unit.after for unit in units), initial=0))
    for first, last in pairwise(_anchors(units, keys, positions, radius)):
        yield from _split(units, keys, positions, first, last, min(limits[first:last]))


def pack_greedily(units: Sequence[Unit], limits: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Ranges as full as they get, one after the other: what comes later depends on all that came before."""
    first, taken = 0, 0
    for at, unit in enumerate(units):
        if at > first and taken + unit.after > limits[first]:
            yield first, at
            first = at
        taken = unit.alone if at == first else taken + unit.after
    if units:
        yield first, len(units)


def _anchors(units: Sequence[Unit], keys: Sequence[int], positions: Sequence[int], radius: int) -> list[int]:
    """Start, end, and every unit whose key is the greatest within the radius; of equals the first."""
    count = len(units)
    if not count:
        return []
    before = _greatest(keys, positions, radius, range(count))
    after = _greatest(keys, positions, radius, range(count - 1, -1, -1))
    inner = [
        at
        for at in range(1, count)
        if (before[at] < keys[at] >= after[at] and radius <= positions[at] <= positions[-1] - radius)
        or units[at].after - units[at].alone > radius  # so much white space would fill a chunk
    ]
    return [0, *inner, count]


def _greatest(keys: Sequence[int], positions: Sequence[int], radius: int, order: range) -> list[int]:
    """For each unit the greatest key among those that come before it in this order, within the radius."""
    found = [-1] * len(keys)
    window: deque[int] = deque()
    for at in order:
        while window and abs(positions[at] - positions[window[0]]) >= radius:
            window.popleft()
        if window:
            found[at] = keys[window[0]]
        while window and keys[window[-1]] <= keys[at]:
            window.pop()
        window.append(at)
    return found


def _split(
    units: Sequence[Unit], keys: Sequence[int], positions: Sequence[int], first: int, last: int, limit: int
) -> Iterator[tuple[int, int]]:
    """Cut what lies between two anchors into ranges within the limit."""
    while True:
        total = units[first].alone + positions[last] - positions[first + 1]
        if total <= limit or last - first == 1:
            yield first, last
            return
        if total <= 2 * limit:  # two even halves
            low, high = max(total - limit, limit // 4), min(limit, total - limit // 4)
        else:
            low, high = limit // 2, limit
        cut = _best_cut(units, keys, positions, first, last, low, high, total)
        yield first, cut
        first = cut


def _best_cut(
    units: Sequence[Unit],
    keys: Sequence[int],
    positions: Sequence[int],
    first: int,
    last: int,
    low: int,
    high: int,
    total: int,
) -> int:
    """The strongest boundary after `low` to `high` tokens; if there is none, the last before."""
    best, best_rank = 0, (-1, 0)
    fallback = first + 1
    taken = units[first].alone
    for at in range(first + 1, last):
        if taken > high:
            break
        fallback = at
        if taken >= low:
            even = (keys[at] >> 32, -abs(2 * taken - total))
            rank = even if total <= 2 * high else (keys[at] >> 32, keys[at])
            if rank > best_rank:
                best, best_rank = at, rank
        taken += units[at].after
    return best or fallback
