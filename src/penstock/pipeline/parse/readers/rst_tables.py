"""Takes the tables of reStructuredText apart: those drawn with lines, and those between rows of `=`."""

from __future__ import annotations

import re

_GRID = re.compile(r"[ \t]*+\+(?:[-=]++\+)++[ \t]*+")
_SIMPLE = re.compile(r"=++(?:[ \t]++=++)++[ \t]*+")
_LINE = re.compile(r"-++(?:[ \t]++-++)*+[ \t]*+")
_COLUMN = re.compile(r"=++")
_MOST_COLUMNS = 1_000


def is_grid_start(line: str) -> bool:
    return line[:1] in ("+", " ") and _GRID.fullmatch(line) is not None


def is_simple_start(line: str) -> bool:
    return line[:1] == "=" and _SIMPLE.fullmatch(line) is not None


def grid_rows(lines: list[str]) -> list[list[str]]:
    rows: list[list[list[str]]] = []
    cells: list[list[str]] | None = None
    for line in lines:
        said = line.strip()
        if said.startswith("+"):
            if cells is not None:
                rows.append(cells)
            cells = None
        elif said.startswith("|"):
            parts = said.strip("|").split("|")[:_MOST_COLUMNS]
            if cells is None:
                cells = [[] for _ in parts]
            for number, part in enumerate(parts):
                if number < len(cells):
                    cells[number].append(part.strip())
    if cells is not None:
        rows.append(cells)
    return [[" ".join(cell).strip() for cell in row] for row in rows]


def simple_rows(lines: list[str]) -> list[list[str]]:
    spans = [found.span() for found in _COLUMN.finditer(lines[0])][:_MOST_COLUMNS]
    starts = [start for start, _ in spans]
    ends = [*starts[1:], None]
    rows: list[list[list[str]]] = []
    for line in lines[1:]:
        if not line or is_simple_start(line) or _LINE.fullmatch(line):
            continue
        cells = [line[start:end].strip() for start, end in zip(starts, ends, strict=True)]
        if not cells[0] and rows:  # a row goes on while its first cell is empty
            for cell, more in zip(rows[-1], cells, strict=True):
                if more:
                    cell.append(more)
        else:
            rows.append([[cell] for cell in cells])
    return [[" ".join(cell) for cell in row] for row in rows]
