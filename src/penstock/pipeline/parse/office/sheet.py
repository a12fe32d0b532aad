"""Writes a sheet of a spreadsheet: its name, and a table for each of its parts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from penstock.pipeline.parse.office.pieces import Pieces

Row = Mapping[int, str]
"""The cells that are not empty, by column."""


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
    pieces.table([[row.get(at, "") for at in columns] for row in rows])


def hidden_warning(count: int) -> tuple[str, ...]:
    """Says that sheets were left out, if any were."""
    return (f"{count} hidden sheet{'s were' if count > 1 else ' was'} not read",) if count else ()
