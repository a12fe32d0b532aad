"""What a made document holds, whatever its format."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

Rows: TypeAlias = Sequence[Sequence[str]]
"""A table; the first row is its head."""

Piece: TypeAlias = str | Rows
"""A paragraph, a heading (`# Words`, `## Words`), or a table."""


def heading(piece: str) -> tuple[int, str]:
    """The level of a heading and its words; level 0 for a paragraph."""
    words = piece.lstrip("#")
    level = len(piece) - len(words)
    return (level, words.strip()) if level and words.startswith(" ") else (0, piece)
