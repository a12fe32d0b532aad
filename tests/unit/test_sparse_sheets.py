"""A sheet with few cells far apart becomes a text in proportion to its cells."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.office.sheet import Row, add_sheet


def text_of(rows: Sequence[Row]) -> str:
    pieces = Pieces()
    add_sheet(pieces, "Stock", rows)
    return pieces.text()


def test_one_cell_in_each_row_and_column_is_not_padded() -> None:
    few, many = ([{at: f"word{at}"} for at in range(count)] for count in (300, 3_000))
    assert len(text_of(many)) < 15 * len(text_of(few))
    assert all(f"word{at}" in text_of(few) for at in range(300))


def test_a_table_with_gaps_keeps_its_columns() -> None:
    text = text_of([{0: "Mill", 1: "March", 2: "April"}, {0: "Alder", 2: "4 m"}])
    assert [cell.strip() for cell in text.splitlines()[-1].split("|")] == ["", "Alder", "", "4 m", ""]
