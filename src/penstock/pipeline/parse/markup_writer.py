"""Writes the elements and words of a page as Markdown-like text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from penstock.pipeline.parse.table import markdown_table

Attributes = Mapping[str, str | None]

_PARAGRAPHS = {
    *("p", "div", "section", "article", "main", "aside", "header", "footer", "blockquote", "form"),
    *("address", "figure", "figcaption", "fieldset", "hr", "body", "title", "dl", "dd", "dt"),
    *("table", "caption", "tr", "td", "th", "details", "summary", "legend"),
}
_FIELDS = {"button", "label", "option", "output", "textarea"}
"""Parts of a form: they stand apart from the words around, but on the same line."""
_SHOWN_INPUTS = {
    *("text", "search", "email", "tel", "url", "number", "date", "time", "datetime-local", "month", "week"),
    *("button", "submit", "reset"),
}
_HEADINGS = {f"h{level}": level for level in range(1, 7)}
_PREFORMATTED = {"pre", "listing", "xmp", "plaintext"}
_SPACES = re.compile(r"\s+")
_STRUCTURAL = re.compile(r"^(#{1,6}\s|```|~~~)", re.M)
"""Characters that would turn a line of prose into structure."""
_MOST_INDENT = 20
"""Deeper lists are not indented further: the indentation alone would fill the memory."""


def _shown_value(attributes: Attributes) -> str:
    """What a form's field shows: its value, or what it says while it is empty."""
    if (attributes.get("type") or "text").lower() not in _SHOWN_INPUTS:
        return ""
    return attributes.get("value") or attributes.get("placeholder") or ""


class _Piece(NamedTuple):
    text: str
    is_item: bool = False


@dataclass(slots=True)
class _Table:
    rows: list[list[list[_Piece]]] = field(default_factory=list)
    cell: list[_Piece] | None = None

    def loose(self) -> list[_Piece]:
        return [piece for row in self.rows for cell in row for piece in cell]

    def pieces(self) -> list[_Piece]:
        """A data table as one piece; a table with a single column as its content."""
        if max(map(len, self.rows), default=0) < 2:
            return self.loose()
        rows = [[" ".join(piece.text for piece in cell) for cell in row] for row in self.rows]
        return [_Piece(markdown_table(rows))] if any(map(any, rows)) else []


class MarkdownWriter:
    """Receives the start and end of elements and the words between them, and collects pieces of text.

    Inside a table they go to the current cell. A table that turns out to be page layout, because it contains
    a heading or another table, is dissolved into its pieces; so at most one table is open at a time.
    """

    def __init__(self) -> None:
        self._pieces: list[_Piece] = []
        self._line: list[str] = []
        self._heading = 0
        self._mark = ""
        self._preformatted = False
        self._lists: list[int | None] = []
        self._table: _Table | None = None

    def finished(self) -> str:
        self._end_table()
        parts: list[str] = []
        after_item = False
        for piece in self._pieces:
            parts += ("\n" if piece.is_item and after_item else "\n\n", piece.text)
            after_item = piece.is_item
        return "".join(parts).strip("\n")

    def start(self, tag: str, attributes: Attributes) -> None:
        if tag == "br":
            self._line.append("\n")
        elif tag == "img":
            self._line.append(f" {attributes.get('alt') or ''} ")
        elif tag == "input":
            self._line.append(f" {_shown_value(attributes)} ")
        elif tag in _FIELDS:
            self._line.append(" ")
        elif tag in _HEADINGS:
            self._end_line()
            self._heading = _HEADINGS[tag]
        elif tag in _PREFORMATTED:
            self._end_line()
            self._preformatted = True
        elif tag in ("ul", "ol"):
            self._end_line()
            self._lists.append(0 if tag == "ol" else None)
        elif tag == "li":
            self._start_item()
        elif tag == "table":
            self._give_up_table()
            self._table = _Table()
        elif tag == "caption":
            self._end_table()
            self._table = _Table()
        elif tag in ("tr", "td", "th"):
            self._start_cell(tag)
        elif tag in _PARAGRAPHS:
            self._end_line()

    def end(self, tag: str) -> None:
        if tag in _FIELDS:
            self._line.append(" ")
        elif tag == "table":
            self._end_table()
        elif tag in ("td", "th", "tr"):
            self._end_cell()
        elif tag in _PREFORMATTED:
            self._end_preformatted()
        elif tag in ("ul", "ol"):
            self._end_line()
            self._lists.pop()
        elif tag in _PARAGRAPHS or tag == "li" or tag in _HEADINGS:
            self._end_line()
            self._heading = 0
            if tag == "li":
                self._mark = ""

    def words(self, text: str) -> None:
        self._line.append(text if self._preformatted else _SPACES.sub(" ", text))

    def _start_item(self) -> None:
        self._end_line()
        number = self._lists[-1] if self._lists else None
        if number is not None:
            number += 1
            self._lists[-1] = number
        self._mark = self._indent(len(self._lists) - 1) + ("- " if number is None else f"{number}. ")

    def _indent(self, depth: int) -> str:
        return "  " * min(max(0, depth), _MOST_INDENT)

    def _end_line(self) -> None:
        """Finish the current piece, if it has words."""
        if self._preformatted:
            self._end_preformatted()
        if not self._line:
            return
        lines = [" ".join(line.split()) for line in "".join(self._line).split("\n")]
        self._line = []
        text = "\n".join(line for line in lines if line)
        if not text:
            return
        if self._heading:
            if self._table is not None and self._table.cell is not None:
                self._give_up_table()
            self._put(_Piece("#" * self._heading + " " + text.replace("\n", " ")))
        elif self._lists:
            mark = self._mark or self._indent(len(self._lists))
            self._put(_Piece(mark + text.replace("\n", " "), is_item=True))
            self._mark = ""
        else:
            self._put(_Piece(_STRUCTURAL.sub(r"\\\1", text)))

    def _end_preformatted(self) -> None:
        text = "".join(self._line).strip("\n")
        self._line, self._preformatted = [], False
        if text.strip():
            fence = "~~~~" if "```" in text else "```"
            self._put(_Piece(f"{fence}\n{text}\n{fence}"))

    def _start_cell(self, tag: str) -> None:
        self._end_cell()
        if self._table is not None:
            if tag == "tr" or not self._table.rows:
                self._table.rows.append([])
            if tag != "tr":
                self._table.cell = []

    def _end_cell(self) -> None:
        self._end_line()
        if self._table is not None and self._table.cell is not None:
            self._table.rows[-1].append(self._table.cell)
            self._table.cell = None

    def _end_table(self) -> None:
        self._end_cell()
        if self._table is not None:
            self._pieces += self._table.pieces()
            self._table = None

    def _give_up_table(self) -> None:
        """From here on, treat its cells as ordinary parts of the page."""
        self._end_cell()
        if self._table is not None:
            self._pieces += self._table.loose()
            self._table = None

    def _put(self, piece: _Piece) -> None:
        cell = self._table.cell if self._table is not None else None
        (self._pieces if cell is None else cell).append(piece)
