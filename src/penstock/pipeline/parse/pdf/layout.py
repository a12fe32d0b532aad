"""Puts the lines of a PDF page into the order of reading: columns one after the other, tables row by row."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from statistics import fmean

from penstock.pipeline.parse.pdf.grid import grid_rows, lines_above, lines_below, tables_of
from penstock.pipeline.parse.pdf.lines import NUMBER, Piece, is_right_to_left
from penstock.pipeline.parse.pdf.regions import Band, Interval, bands, blocks, column_of, columns
from penstock.pipeline.parse.pdf.words import AFTER_ALL

_DEEPEST = 6
_CROSSED = 0.15
"""A heading over several columns of a table crosses the strips between them; this share of lines may."""
_FULL = 0.75
"""A line of prose covers this share of its column's width."""
_BULLET = re.compile(r"[•◦▪‣●○■–*\x7f\uf0b7\uf0a7-]$|\d{1,2}[.)]$")  # noqa: RUF001  # bullets of all programs


@dataclass(frozen=True, slots=True)
class Flow:
    """Lines that follow each other; a line has more than one piece if a wide gap divides it."""

    lines: list[Band]
    column: Interval
    """From the left edge to the right edge of the text that it is part of."""


@dataclass(frozen=True, slots=True)
class Grid:
    rows: list[list[str]]
    size: float
    """The font size of its cells."""


def read_in_order(pieces: Iterable[Piece], depth: int = 0) -> list[Flow | Grid]:
    """The page's parts in the order of reading."""
    kept = list(pieces)
    if not kept:
        return []
    found: list[Flow | Grid] = []
    for run, divided in blocks(bands(kept)):
        if divided and depth < _DEEPEST:
            found += _divided(run, depth)
        else:
            found += _flow(run)
    return found


def columns_of(parts: Iterable[Flow | Grid]) -> int:
    """How many columns of text stand beside each other; one if there is any text."""
    flows = [part for part in parts if isinstance(part, Flow)]
    found, last = 0, float("-inf")
    for left, right in sorted((one.column for one in flows if len(one.lines) >= 3), key=lambda each: each[1]):
        if left >= last:
            found, last = found + 1, right
    return max(found, int(bool(flows)))


def _flow(run: Sequence[Band]) -> list[Flow | Grid]:
    found: list[Flow | Grid] = []
    lines: list[Band] = []
    column = (min([band[0].left for band in run]), max([one.right for band in run for one in band]))
    for band in run:
        for line in _lines(band):
            if any(one.rows for one in line):
                if lines:
                    found.append(Flow(lines, column))
                found += [Grid(one.rows, one.size) if one.rows else Flow([[one]], column) for one in line]
                lines = []
            else:
                lines.append(line)
    return [*found, Flow(lines, column)] if lines else found


def _lines(band: Band) -> list[Band]:
    """The lines of a band, which are several if pieces of unequal height overlap."""
    if len(band) == 1:
        return [band]
    found: list[Band] = []
    for one in sorted(band, key=lambda each: -each.middle):
        if found and found[-1][0].middle - one.middle < 0.4 * max(found[-1][0].size, one.size):
            found[-1].append(one)
        else:
            found.append([one])
    for line in found:
        line.sort(key=lambda each: each.left)
    return found


def _divided(run: list[Band], depth: int) -> list[Flow | Grid]:
    """A block with white strips: a table, or columns that are read one after the other."""
    if above := lines_above(run):
        return [*_flow(run[:above]), *read_in_order(_all(run[above:]), depth + 1)]
    parts: list[Flow | Grid] = []
    if len(kinds := _kinds(run)) > 1:
        for kind in kinds:
            parts += read_in_order(_all(kind), depth + 1)
        return parts
    found = columns(run)
    if len(found) < 2:
        return _flow(run)
    by_column = _by_column(run, found)
    prose = [_is_prose(each, column) for each, column in zip(by_column, found, strict=True)]
    if _is_table(run, by_column, prose):
        end = len(run) - lines_below(run)
        for table in tables_of(run[:end]):
            rows = grid_rows(table, columns(table, tolerance=_CROSSED))
            parts += [Grid(rows, table[0][0].size)] if rows else _flow(table)
        return [*parts, *read_in_order(_all(run[end:]), depth + 1)]
    groups = _groups(by_column, prose)
    if is_right_to_left("".join([one.text for pieces in by_column for one in pieces])):
        groups.reverse()
    for group in groups:
        parts += read_in_order(group, depth + 1)
    return parts


def _kinds(run: list[Band]) -> list[list[Band]]:
    """The parts of a block that differ in columns, such as a table below text in two columns."""
    # A sentence below a table may end between two of its columns, and would join those before.
    usual = columns(run[: len(run) - lines_below(run)], tolerance=_CROSSED)
    found: list[list[Band]] = []
    last = False
    for band in run:
        divided = len(band) > len(usual) and not _is_tall(band)
        if not found or divided != last:
            found.append([])
        found[-1].append(band)
        last = divided
    more = [part for part in found if len(part[0]) > len(usual)]
    if any(len(part) < 2 for part in found) or any(_has_prose(part, usual) for part in more):
        return [run]
    return found


def _has_prose(run: list[Band], found: Sequence[Interval]) -> bool:
    """Whether one column goes on as text: then another one is divided, and not the block."""
    by_column = _by_column(run, found)
    return any(
        len(pieces) <= len(run) and _is_prose(pieces, column)
        for pieces, column in zip(by_column, found, strict=True)
    )


def _by_column(run: Iterable[Band], found: Sequence[Interval]) -> list[list[Piece]]:
    by_column: list[list[Piece]] = [[] for _ in found]
    for band in run:
        for one in band:
            by_column[column_of(one, found)].append(one)
    return by_column


def _is_tall(band: Band) -> bool:
    """Whether a band has several lines, since those of its columns overlap."""
    return len({round(one.middle) for one in band}) > 2


def _all(run: Iterable[Band]) -> list[Piece]:
    return [one for band in run for one in band]


def _groups(by_column: list[list[Piece]], prose: list[bool]) -> list[list[Piece]]:
    """Columns that are read on their own; those beside each other that are not prose may form a table."""
    together = any(prose)
    groups: list[list[Piece]] = []
    open_group = False
    for pieces, is_prose in zip(by_column, prose, strict=True):
        if together and not is_prose and open_group:
            groups[-1] += pieces
        else:
            groups.append(list(pieces))
        open_group = not is_prose
    return groups


def _is_prose(pieces: Sequence[Piece], column: Interval) -> bool:
    """Several lines of words that fill the column."""
    lines = [one for one in pieces if not one.rows]
    if len(lines) < 3:
        return False
    width = max(1.0, column[1] - column[0])
    full = sum(one.right - one.left > _FULL * width for one in lines)
    return fmean(len(one.words) for one in lines) >= 3 and full >= 0.55 * len(lines)


def _is_table(run: list[Band], by_column: list[list[Piece]], prose: list[bool]) -> bool:
    if any(one.rows for pieces in by_column for one in pieces) or all(prose):
        return False
    if _has_figures(by_column) and _is_aligned(by_column):
        return True
    if sum(_starts_with_bullet(pieces) for pieces in by_column) > 1:
        return False
    if any(prose):
        return _is_aligned(by_column) or _rows_start_cells(by_column, prose)
    filled = sum(map(len, run)) / (len(run) * len(by_column))
    return not _drawn_by_column(by_column) or (len(by_column) > 2 and filled >= 0.9)


def _has_figures(by_column: list[list[Piece]]) -> bool:
    """Whether most cells but those of the first column are numbers, and they do not just count lines."""
    others = [pieces for pieces in by_column[1:] if not _counts(pieces)]
    cells = [one.text for pieces in others for one in pieces]
    return bool(cells) and sum(NUMBER.fullmatch(cell) is not None for cell in cells) >= 0.5 * len(cells)


def _counts(pieces: Sequence[Piece]) -> bool:
    """Whether it is 1, 2, 3 and so on, as beside the lines of a transcript."""
    texts = [one.text for one in sorted(pieces, key=lambda each: -each.middle)]
    first = int(texts[0]) if texts[0].isdecimal() else 0
    return texts == [str(number) for number in range(first, first + len(texts))]


def _is_aligned(by_column: list[list[Piece]]) -> bool:
    """Whether the columns have their lines at the same heights, and about as many or in many columns."""
    longest = max(by_column, key=len)
    heights = {round(one.middle + near) for one in longest for near in (-0.5, 0, 0.5)}
    others = [pieces for pieces in by_column if pieces is not longest and not _counts(pieces)]
    beside = [one for pieces in others for one in pieces]
    on_line = sum(round(one.middle) in heights for one in beside)
    return (
        bool(others)
        and on_line >= 0.9 * len(beside)
        and (len(others) > 2 or max(map(len, others)) >= 0.6 * len(longest))
    )


def _starts_with_bullet(pieces: Sequence[Piece]) -> bool:
    marked = sum(bool(one.words and _BULLET.match(one.words[0].text)) for one in pieces)
    return marked >= 2 and marked >= 0.4 * len(pieces)


def _drawn_by_column(by_column: list[list[Piece]]) -> bool:
    """Whether the file draws each column as a whole, as it does text but hardly ever a table."""
    if any(one.place >= AFTER_ALL for pieces in by_column for one in pieces):
        return False  # form fields are drawn after everything else
    order = sorted((one.place, at) for at, pieces in enumerate(by_column) for one in pieces)
    changes = sum(one[1] != other[1] for one, other in itertools.pairwise(order))
    return changes <= len(by_column) - 1 + 0.1 * len(order)


def _rows_start_cells(by_column: list[list[Piece]], prose: list[bool]) -> bool:
    """Whether a column of long cells belongs to a table: the line above a new row is a cell's last one.

    Beside a column of prose, by contrast, the line above is as full and as near as any other.
    """
    wide = max((pieces for pieces, is_prose in zip(by_column, prose, strict=True) if is_prose), key=len)
    lines = sorted(wide, key=lambda one: -one.middle)
    right = max(one.right for one in lines)
    width = right - min(one.left for one in lines)
    others = [pieces for pieces, is_prose in zip(by_column, prose, strict=True) if not is_prose]
    starts = sorted((one.middle for one in max(others, key=len)), reverse=True)
    ends = seen = at = 0
    for start in starts:
        while at < len(lines) and lines[at].middle > start + 0.3 * lines[at].size:
            at += 1
        if at == len(lines):
            return False
        if abs(lines[at].middle - start) > 0.3 * lines[at].size:
            seen += 1  # nothing of the wide column starts here
        elif at:
            seen += 1
            above = lines[at - 1]
            pitch = above.middle - lines[at].middle
            ends += above.right < right - 0.2 * width or pitch > 1.5 * above.size
    return seen > 0 and ends >= 0.5 * seen
