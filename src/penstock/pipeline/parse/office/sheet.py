"""Writes a sheet of a spreadsheet: its name, and a table for each of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.pipeline.parse.office.pieces import Pieces

Row = Mapping[int, str]
"""The cells that are not empty, by column."""

_SPARSE, _LARGE = 20, 10_000
"""A larger table, of which cells fill less than one of twenty places, is written without the empty ones: with
a cell for each row and column, 200 kB of spreadsheet would become eleven million characters."""


def filled(row: Sequence[str]) -> Row:
    return {at: cell for at, cell in enumerate(row) if cell.strip()}


def add_sheet(pieces: Pieces, name: str, rows: Iterable[Row]) -> None:
    """Empty rows divide a sheet into tables; a column that is empty in one of them is left out of it."""
    held: list[Row] = []
    is_named = False
    for row in rows:
        if row:
            if not is_named:
                pieces.heading(2, name)
                is_named = True
            held.append(row)
        elif held:
            _add_table(pieces, held)
            held = []
    _add_table(pieces, held)


def _add_table(pieces: Pieces, rows: list[Row]) -> None:
    columns = sorted({at for row in rows for at in row})
    places = len(rows) * len(columns)
    if places > _LARGE and places > _SPARSE * sum(map(len, rows)):
        pieces.table([[row[at] for at in sorted(row)] for row in rows])
    else:
        pieces.table([[row.get(at, "") for at in columns] for row in rows])


def hidden_warning(count: int) -> tuple[str, ...]:
    """Says that sheets were left out, if any were."""
    return (f"{count} hidden sheet{'s were' if count > 1 else ' was'} not read",) if count else ()
