"""Reads a table without lines: rows and cells from the positions of words."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from statistics import median

from penstock.pipeline.parse.pdf.lines import NUMBER, with_line
from penstock.pipeline.parse.pdf.regions import Band, Interval, column_of

_LONGEST_CELL = 400
_USUAL_CELL = 60
"""Longer cells on average mean text that is not a table."""
_APART = 2.5
_FEWEST_ROWS = 3
_TIGHT = 1.45
"""In font sizes: the pitch of lines inside one cell."""


def lines_above(run: Sequence[Band]) -> int:
    """How many bands at the start are single lines at the left, as a heading is."""
    count = 0
    while count < len(run) and len(run[count]) == 1 and not run[count][0].rows:
        count += 1
    if count == len(run) or any(band[0].left > run[count][0].right for band in run[:count]):
        return 0
    return count


def lines_below(run: Sequence[Band]) -> int:
    """How many bands at the end are single lines at the left that do not continue a cell."""
    edge = min(band[0].left for band in run)
    count = 0
    while (
        count < len(run) - 1 and len(run[-1 - count]) == 1 and _stands_alone(run, len(run) - 1 - count, edge)
    ):
        count += 1
    return count


def tables_of(run: Sequence[Band]) -> list[list[Band]]:
    """The tables of a block: a wide gap between rows separates two, if each has a few rows."""
    pitches = [_pitch(above, band) for above, band in itertools.pairwise(run)]
    usual = median(pitches) if pitches else 0.0
    found: list[list[Band]] = [[run[0]]]
    for band, pitch in zip(run[1:], pitches, strict=True):
        if pitch > _APART * usual:
            found.append([])
        found[-1].append(band)
    return found if all(len(part) >= _FEWEST_ROWS for part in found) else [list(run)]


def grid_rows(run: Sequence[Band], found: Sequence[Interval]) -> list[list[str]] | None:
    """Rows of cells; lines that continue the cells above them are joined. None if it is not like a table."""
    if len(found) < 2 or len(run) < 2:
        return None
    rows: list[list[str]] = []
    pitches = [_pitch(above, band) for above, band in itertools.pairwise(run)]
    usual = median(pitches)
    for at, band in enumerate(run):
        row = [""] * len(found)
        for one in sorted(band, key=lambda each: (-round(each.middle / max(1.0, each.size)), each.left)):
            column = column_of(one, found)
            row[column] = with_line(row[column], one.text)
        if rows and _continues(rows[-1], row, pitches[at - 1], usual, band[0].size):
            for column, cell in enumerate(row):
                if cell:
                    rows[-1][column] = with_line(rows[-1][column], cell)
        else:
            rows.append(row)
    lengths = [len(cell) for row in rows for cell in row if cell]
    if max(lengths) > _LONGEST_CELL or sum(lengths) / len(lengths) > _USUAL_CELL:
        return None
    return rows if len(rows) > 1 else None


def _continues(above: list[str], row: list[str], pitch: float, usual: float, size: float) -> bool:
    """Whether a line with few cells belongs to the row above."""
    filled = sum(map(bool, row))
    if filled == len(row) or any(cell and not said for cell, said in zip(row, above, strict=True)):
        return False
    if any(map(_are_numbers, row, above)):  # each of them has its own row
        return False
    if pitch < 0.85 * usual:
        return True
    return not row[0] and filled * 2 <= len(row) and pitch < _TIGHT * size


def _are_numbers(cell: str, above: str) -> bool:
    return bool(cell and above and NUMBER.fullmatch(cell) and NUMBER.fullmatch(above))


def _pitch(above: Band, band: Band) -> float:
    return min(one.middle for one in above) - max(one.middle for one in band)


def _stands_alone(run: Sequence[Band], at: int, edge: float) -> bool:
    one = run[at][0]
    if one.rows or one.left > edge + 2 * one.size:
        return False
    return _pitch(run[at - 1], run[at]) > _TIGHT * one.size
