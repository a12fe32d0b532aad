"""Finds the columns of a PDF page: bands of lines, and the white strips that divide them."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from operator import itemgetter
from statistics import median

from penstock.pipeline.parse.pdf.lines import WIDE_GAP, Piece

Interval = tuple[float, float]
Band = list[Piece]
"""Pieces that share a height of the page, from the left."""

_FEWEST_BANDS = 3
_PERSISTENT = 0.55
"""A strip that goes on from line to line may be this much narrower than a gap that starts one."""
_EVERYWHERE: Interval = (-1e9, 1e9)
"""No word is placed beyond this."""


def bands(pieces: Iterable[Piece]) -> list[Band]:
    """Pieces that overlap vertically, from the top. Lines of unequal columns form one tall band."""
    found: list[Band] = []
    lowest = 0.0
    kept = [(one.middle, one.reach, one) for one in pieces]
    for middle, reach, one in sorted(kept, key=lambda each: -(each[0] + each[1])):
        if found and middle + reach > lowest:
            found[-1].append(one)
            lowest = min(lowest, middle - reach)
        else:
            found.append([one])
            lowest = middle - reach
    for band in found:
        if len(band) > 1:
            band.sort(key=lambda each: (each.left, -each.top))
    return found


def blocks(found: Iterable[Band]) -> list[tuple[list[Band], bool]]:
    """Runs of bands, each with whether white strips divide all of it from top to bottom."""
    made: list[tuple[list[Band], bool]] = []
    run: list[Band] = []
    strips: list[Interval] = []
    first, last = 0.0, 0.0
    for band in found:
        if not strips and len(band) == 1:  # as in text of one column: nothing divides it
            _close(made, run, strips)
            run, first, last = [band], band[0].left, band[0].right
            continue
        free, left, right = _free(band), band[0].left, max(one.right for one in band)
        common = _common(strips, free, _PERSISTENT * _narrowest(band)) if run else []
        if inner := _inner(common, min(first, left), max(last, right)):
            strips, first, last = inner, min(first, left), max(last, right)
            run.append(band)
            continue
        _close(made, run, strips)
        run, strips, first, last = [band], _inner(free, left, right), left, right
    _close(made, run, strips)
    return made


def columns(block: Iterable[Band], tolerance: float = 0.0) -> list[Interval]:
    """The columns between white strips, from the left; a share of the bands may cross a strip."""
    kept = list(block)
    edges: list[tuple[float, int]] = []
    for band in kept:
        for left, right in _covered(band):
            edges += [(left, 1), (right, -1)]
    edges.sort(key=lambda edge: (edge[0], -edge[1]))
    crossed = int(tolerance * len(kept))
    narrowest = 0.6 * median(_narrowest(band) for band in kept)
    found: list[Interval] = []
    depth, start = 0, None
    for at, change in edges:
        depth += change
        if depth > crossed and start is None:
            start = found.pop()[0] if found and at - found[-1][1] < narrowest else at
        elif depth <= crossed and start is not None:
            found.append((start, at))
            start = None
    return found


def column_of(piece: Piece, found: Sequence[Interval]) -> int:
    """The first column that has a good part of the piece, or the last one that it reaches."""
    at = last = max(0, bisect.bisect_right(found, piece.left, key=itemgetter(0)) - 1)
    while at < len(found) and found[at][0] < piece.right:
        shared = min(piece.right, found[at][1]) - max(piece.left, found[at][0])
        if shared > 0.3 * (piece.right - piece.left):
            return at
        last, at = at, at + 1
    return last


def _narrowest(band: Band) -> float:
    return WIDE_GAP * (band[0].size if len(band) == 1 else median([one.size for one in band]))


def _covered(band: Band) -> list[Interval]:
    found: list[Interval] = []
    for one in band:  # from the left
        if found and one.left <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], one.right))
        else:
            found.append((one.left, one.right))
    return found


def _free(band: Band) -> list[Interval]:
    if len(band) == 1:
        return [(_EVERYWHERE[0], band[0].left), (band[0].right, _EVERYWHERE[1])]
    covered = _covered(band)
    edges = [_EVERYWHERE[0], *(edge for each in covered for edge in each), _EVERYWHERE[1]]
    return list(zip(edges[::2], edges[1::2], strict=True))


def _common(some: Sequence[Interval], others: Sequence[Interval], narrowest: float) -> list[Interval]:
    """Where two sets of strips overlap widely enough."""
    found: list[Interval] = []
    at = other = 0
    while at < len(some) and other < len(others):
        left = max(some[at][0], others[other][0])
        right = min(some[at][1], others[other][1])
        if right - left >= narrowest:
            found.append((left, right))
        if some[at][1] < others[other][1]:
            at += 1
        else:
            other += 1
    return found


def _inner(strips: Iterable[Interval], first: float, last: float) -> list[Interval]:
    """The strips that have text on both sides."""
    return [(left, right) for left, right in strips if first < left and right < last]


def _close(made: list[tuple[list[Band], bool]], run: list[Band], strips: Sequence[Interval]) -> None:
    """Add a run; neighbours that nothing divides belong together."""
    if not run:
        return
    beside = [band for band in run if len(band) > 1] if strips else []
    divided = len(beside) >= _FEWEST_BANDS or any(
        len(band) > _FEWEST_BANDS or any(one.rows for one in band) for band in beside
    )
    if not divided and made and not made[-1][1]:
        made[-1][0].extend(run)
    else:
        made.append((run, divided))
