"""Finds ruled tables on a PDF page and puts the words into their cells."""

from __future__ import annotations

import bisect
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from penstock.pipeline.parse.pdf.lines import NUMBER, Piece, is_right_to_left, pieces, with_line
from penstock.pipeline.parse.pdf.rules import RuledLine
from penstock.pipeline.parse.pdf.words import Word

_NEAR = 3.0
"""In points: lines that end this close to each other meet."""
_MOST_RULES = 4_000
_MOST_TABLES = 40
_MOST_CELLS = 20_000
_LONGEST_CELL = 1_000
_USUAL_CELL = 160
"""Longer cells on average mean a page laid out in boxes, not a table."""


@dataclass(slots=True)
class _Frame:
    """Lines that meet each other."""

    across: list[RuledLine] = field(default_factory=list)
    up: list[RuledLine] = field(default_factory=list)


class _Cell:
    """The lines of a cell, and its text."""

    __slots__ = ("lines", "text")

    def __init__(self, lines: list[Piece]) -> None:
        self.lines = lines
        self.text = ""
        broken = False
        for line in lines:
            self.text = with_line(self.text, line.text, broken=broken)
            broken = line.broken


_EMPTY = _Cell([])


def ruled_tables(words: list[Word], rules: Iterable[RuledLine]) -> tuple[list[Piece], list[Word]]:
    """The tables, and the words outside of them."""
    across, up = _by_direction(rules)
    if not across or not up or len(across) + len(up) > _MOST_RULES:
        return [], words
    found: list[Piece] = []
    frames = sorted(_frames(across, up), key=lambda each: -len(each.across) - len(each.up))
    for frame in frames[:_MOST_TABLES]:
        table, words = _table(frame, words)
        if table:
            found.append(table)
    return found, words


def _by_direction(rules: Iterable[RuledLine]) -> tuple[list[RuledLine], list[RuledLine]]:
    """Horizontal and vertical lines; pieces of one line are joined."""
    across: list[RuledLine] = []
    up: list[RuledLine] = []
    kept = list(rules)
    for rule in sorted(kept, key=lambda each: (round(each.bottom), each.left)):
        if rule.right - rule.left > rule.top - rule.bottom:
            last = across[-1] if across else None
            if last and abs(last.bottom - rule.bottom) < 1.5 and rule.left <= last.right + _NEAR:
                across[-1] = last._replace(right=max(last.right, rule.right))
            else:
                across.append(rule)
    for rule in sorted(kept, key=lambda each: (round(each.left), each.bottom)):
        if rule.right - rule.left <= rule.top - rule.bottom:
            last = up[-1] if up else None
            if last and abs(last.left - rule.left) < 1.5 and rule.bottom <= last.top + _NEAR:
                up[-1] = last._replace(top=max(last.top, rule.top))
            else:
                up.append(rule)
    return across, up


def _frames(across: list[RuledLine], up: list[RuledLine]) -> list[_Frame]:
    """Groups of lines that touch, directly or through others."""
    parents = list(range(len(across) + len(up)))

    def root(at: int) -> int:
        while parents[at] != at:
            parents[at] = parents[parents[at]]
            at = parents[at]
        return at

    order = sorted(range(len(up)), key=lambda at: up[at].left)
    lefts = [up[at].left for at in order]
    for number, line in enumerate(across):
        first = bisect.bisect_left(lefts, line.left - _NEAR)
        last = bisect.bisect_right(lefts, line.right + _NEAR)
        for at in order[first:last]:
            if up[at].bottom - _NEAR <= line.top and line.bottom <= up[at].top + _NEAR:
                parents[root(len(across) + at)] = root(number)
    frames: dict[int, _Frame] = {}
    for number, line in enumerate(across):
        frames.setdefault(root(number), _Frame()).across.append(line)
    for number, line in enumerate(up):
        frames.setdefault(root(len(across) + number), _Frame()).up.append(line)
    return [frame for frame in frames.values() if frame.across and frame.up]


def _table(frame: _Frame, words: list[Word]) -> tuple[Piece | None, list[Word]]:
    xs = _places(
        [rule.left for rule in frame.up] + [edge for rule in frame.across for edge in (rule.left, rule.right)]
    )
    ys = _places(
        [rule.bottom for rule in frame.across]
        + [edge for rule in frame.up for edge in (rule.bottom, rule.top)]
    )
    columns, rows = len(xs) - 1, len(ys) - 1
    if columns < 2 or rows < 2 or columns * rows > _MOST_CELLS:
        return None, words
    owners = _owners(frame, xs, ys)
    inside: dict[tuple[int, int], list[Word]] = {}
    outside: list[Word] = []
    for word in words:
        column = bisect.bisect_right(xs, (word.left + word.right) / 2) - 1
        row = bisect.bisect_right(ys, word.middle) - 1
        if 0 <= column < columns and 0 <= row < rows:
            inside.setdefault(owners[row][column], []).append(word)
        else:
            outside.append(word)
    cells = {place: _Cell(pieces(held)) for place, held in inside.items()}
    if not _is_table({place: cell.text for place, cell in cells.items()}):
        return None, words
    texts = [
        row
        for at in reversed(range(rows))  # they count from the bottom
        for row in _rows([cells.get((at, column), _EMPTY) for column in range(columns)])
        if any(row)
    ]
    used = [at for at in range(columns) if any(row[at] for row in texts)]
    size = min(word.size for held in inside.values() for word in held)
    whole = [[row[at] for at in used] for row in texts]
    if is_right_to_left("".join(map("".join, whole))):
        whole = [row[::-1] for row in whole]
    return Piece([], xs[0], ys[0], xs[-1], ys[-1], size, whole), outside


def _rows(cells: Sequence[_Cell]) -> list[list[str]]:
    """One row, or several if no lines are drawn between rows of numbers."""
    lines = [cell.lines for cell in cells]
    figures = [each for each in lines if len(each) > 1 and all(NUMBER.fullmatch(one.text) for one in each)]
    heights = [one.middle for one in max(figures, key=len, default=[])]
    whole = sum(len(each) == len(heights) for each in figures)
    if whole < 2 or not all(_is_at(one, heights) for each in figures for one in each):
        return [[cell.text for cell in cells]]
    parts: list[list[list[str]]] = [[[] for _ in cells] for _ in heights]
    for column, each in enumerate(lines):
        for one in each:
            nearest = _nearest_height(one, heights)
            parts[nearest][column].append(one.text)
    return [[" ".join(said) for said in part] for part in parts]


def _nearest_height(line: Piece, heights: Sequence[float]) -> int:
    return min(range(len(heights)), key=lambda at: abs(heights[at] - line.middle))


def _is_at(line: Piece, heights: Sequence[float]) -> bool:
    return any(abs(line.middle - height) < 0.3 * line.size for height in heights)


def _is_table(cells: dict[tuple[int, int], str]) -> bool:
    """Words in at least two cells of at least two rows, and no long texts."""
    by_row: dict[int, int] = {}
    for row, _ in cells:
        by_row[row] = by_row.get(row, 0) + 1
    lengths = list(map(len, cells.values()))
    return (
        sum(count > 1 for count in by_row.values()) > 1
        and max(lengths) <= _LONGEST_CELL
        and sum(lengths) / len(lengths) <= _USUAL_CELL
    )


def _owners(frame: _Frame, xs: Sequence[float], ys: Sequence[float]) -> list[list[tuple[int, int]]]:
    """For each cell the one its text goes to: without a line between them, the one to the left or above."""
    columns, rows = len(xs) - 1, len(ys) - 1
    beside = [[False] * columns for _ in range(rows)]
    above = [[False] * columns for _ in range(rows)]
    for rule in frame.up:
        column = _nearest(xs, rule.left)
        if column < columns:
            for row in range(_nearest(ys, rule.bottom), min(rows, _nearest(ys, rule.top))):
                beside[row][column] = True
    for rule in frame.across:
        row = _nearest(ys, rule.bottom) - 1
        if row >= 0:
            for column in range(_nearest(xs, rule.left), min(columns, _nearest(xs, rule.right))):
                above[row][column] = True
    owners = [[(row, column) for column in range(columns)] for row in range(rows)]
    for row in reversed(range(rows)):  # from the top
        for column in range(columns):
            if column and not beside[row][column]:
                owners[row][column] = owners[row][column - 1]
            elif row + 1 < rows and not above[row][column]:
                owners[row][column] = owners[row + 1][column]
    return owners


def _places(values: Iterable[float]) -> list[float]:
    """Distinct positions; near ones are one."""
    found: list[float] = []
    for value in sorted(values):
        if not found or value - found[-1] > _NEAR:
            found.append(value)
    return found


def _nearest(places: Sequence[float], value: float) -> int:
    at = bisect.bisect_left(places, value)
    return at - 1 if at == len(places) or (at and value - places[at - 1] < places[at] - value) else at
