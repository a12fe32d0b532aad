"""Detects borderless tables by the positions of words on a page."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

_FEWEST_ROWS = 3
_LONGEST_CELL = 80
_USUAL_CELL = 28
"""Longer cells on average mean columns of prose, not a table."""
_FARTHEST_ROW = 4.0
"""In line heights; a row farther below is not part of the table."""


class PlacedWords(NamedTuple):
    """Adjacent words on one line, in points from the page's lower left."""

    left: float
    bottom: float
    right: float
    top: float
    text: str

    @property
    def height(self) -> float:
        return self.top - self.bottom


def tables(words: Sequence[PlacedWords]) -> Iterator[list[list[str]]]:
    """Runs of lines whose words are aligned in at least two columns."""
    run: list[list[PlacedWords]] = []
    columns: list[tuple[float, float]] = []
    for line in _lines(words):
        wider = _fitted(columns, line) if run and _follows(run[-1], line) else None
        if len(line) > 1 and wider is not None:
            run.append(line)
            columns = wider
            continue
        yield from _table(run, columns)
        run = [line] if len(line) > 1 else []
        columns = [(one.left, one.right) for one in line]
    yield from _table(run, columns)


def _lines(words: Sequence[PlacedWords]) -> list[list[PlacedWords]]:
    """Words by line, from the top, each line from the left, with nearly touching words joined."""
    lines: list[list[PlacedWords]] = []
    for one in sorted(words, key=lambda each: -each.top):
        middle = (one.top + one.bottom) / 2
        if lines and lines[-1][0].bottom < middle < lines[-1][0].top:
            lines[-1].append(one)
        else:
            lines.append([one])
    return [_joined(sorted(line)) for line in lines]


def _joined(line: list[PlacedWords]) -> list[PlacedWords]:
    joined = line[:1]
    for one in line[1:]:
        last = joined[-1]
        if one.left - last.right > 0.8 * max(one.height, last.height):
            joined.append(one)
        else:
            space = " " if one.left - last.right > 0.15 * one.height else ""
            joined[-1] = PlacedWords(
                last.left,
                min(last.bottom, one.bottom),
                max(last.right, one.right),
                max(last.top, one.top),
                last.text + space + one.text,
            )
    return joined


def _follows(above: list[PlacedWords], line: list[PlacedWords]) -> bool:
    return above[0].bottom - line[0].top < _FARTHEST_ROW * max(above[0].height, line[0].height)


def _fitted(columns: list[tuple[float, float]], line: list[PlacedWords]) -> list[tuple[float, float]] | None:
    """The columns widened by this line; None if a word spans two columns or two words share one."""
    wider = list(columns)
    taken: set[int] = set()
    for one in line:
        touched = [at for at, (left, right) in enumerate(columns) if one.left < right and left < one.right]
        if len(touched) > 1 or taken & set(touched):
            return None
        taken.update(touched)
        if touched:
            left, right = columns[touched[0]]
            wider[touched[0]] = (min(left, one.left), max(right, one.right))
        else:
            wider.append((one.left, one.right))
    return wider


def _table(run: list[list[PlacedWords]], columns: list[tuple[float, float]]) -> Iterator[list[list[str]]]:
    if len(run) < _FEWEST_ROWS:
        return
    starts = sorted(left for left, _ in columns)
    rows = []
    for line in run:
        row = [""] * len(starts)
        for one in line:
            row[max(at for at, start in enumerate(starts) if start <= one.left + 0.5)] = one.text.strip()
        rows.append(row)
    lengths = [len(cell) for row in rows for cell in row if cell]
    filled = len(lengths) / (len(rows) * len(starts))
    if max(lengths) <= _LONGEST_CELL and sum(lengths) / len(lengths) <= _USUAL_CELL and filled >= 0.6:
        yield rows
