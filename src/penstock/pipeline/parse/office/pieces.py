"""Collects headings, paragraphs, list items and tables as Markdown-like text."""

from __future__ import annotations

import re
from collections.abc import Sequence

from penstock.pipeline.parse.table import markdown_table

_STRUCTURAL = re.compile(r"^(?=#{1,6}(?:[ \t]|$)|```|~~~|\||[-*+•][ \t]|>)", re.M)
"""Places where a line of prose would become structure."""
_UNDERLINE = re.compile(r"^(?=(?:=+|-{2,})[ \t]*$)", re.M)
_MOST_INDENT = 10


class Pieces:
    def __init__(self) -> None:
        self._parts: list[str] = []
        self._after_item = False

    def heading(self, level: int, text: str) -> None:
        words = " ".join(text.split())
        if words:
            self._add("#" * min(6, max(1, level)) + " " + words)

    def paragraph(self, text: str) -> None:
        lines = [" ".join(line.split()) for line in text.split("\n")]
        words = "\n".join(line for line in lines if line)
        if words:
            self._add(_UNDERLINE.sub(r"\\", _STRUCTURAL.sub(r"\\", words)))

    def item(self, text: str, depth: int = 0, mark: str = "-") -> None:
        words = " ".join(text.split())
        if words:
            self._add("  " * min(depth, _MOST_INDENT) + f"{mark} {words}", is_item=True)

    def table(self, rows: Sequence[Sequence[str]]) -> None:
        """A table; one with a single cell is a frame around its text."""
        filled = [cell for row in rows for cell in row if cell.strip()]
        if len(filled) == 1 or max(map(len, rows), default=0) == 1:
            for cell in filled:
                self.paragraph(cell)
        elif filled:
            self._add(markdown_table(rows))

    def verbatim(self, text: str) -> None:
        """Text that is Markdown already."""
        if text.strip():
            self._add(text.strip("\n"))

    def text(self) -> str:
        return "".join(self._parts)

    def _add(self, text: str, *, is_item: bool = False) -> None:
        if self._parts:
            self._parts.append("\n" if is_item and self._after_item else "\n\n")
        self._parts.append(text)
        self._after_item = is_item
