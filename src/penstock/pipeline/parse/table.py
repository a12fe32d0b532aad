"""Writes rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

_MOST_PADDED = 50
"""Rows of a wider table stay as short as they are: one long row must not multiply all others."""
_MOST_COLUMNS = 5_000


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """The first row is the header. Short rows are padded, empty ones dropped, pipes escaped."""
    kept = [[_cell(cell) for cell in row] for row in rows]
    kept = [row for row in kept if any(row)]
    width = max(map(len, kept), default=0)
    if not width:
        return ""
    padded = width if width <= _MOST_PADDED else 0
    lines = ["| " + " | ".join(row + [""] * (padded - len(row))) + " |" for row in kept]
    lines.insert(1, "|" + " --- |" * (width if width <= _MOST_COLUMNS else 1))
    return "\n".join(lines)


def _cell(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
