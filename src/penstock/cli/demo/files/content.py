"""The content of a generated document, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Rows: TypeAlias = Sequence[Sequence[str]]
"""A table; the first row is its header."""

Piece: TypeAlias = str | Rows
"""A paragraph, a heading (`# Words`, `## Words`), or a table."""


def heading(piece: str) -> tuple[int, str]:
    """The level and text of a heading; level 0 for a paragraph."""
    words = piece.lstrip("#")
    level = len(piece) - len(words)
    return (level, words.strip()) if level and words.startswith(" ") else (0, piece)
