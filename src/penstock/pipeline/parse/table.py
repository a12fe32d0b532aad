"""Writes rows of cells as a Markdown table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def markdown_table(rows: Iterable[Sequence[str]]) -> str:
    """The first row is the header. Short rows are padded, empty ones dropped, pipes escaped."""
    kept = [[_cell(cell) for cell in row] for row in rows]
    kept = [row for row in kept if any(row)]
    width = max(map(len, kept), default=0)
    if not width:
        return ""
    lines = ["| " + " | ".join(row + [""] * (width - len(row))) + " |" for row in kept]
    lines.insert(1, "|" + " --- |" * width)
    return "\n".join(lines)


def _cell(cell: str) -> str:
    return " ".join(cell.split()).replace("|", "\\|")
