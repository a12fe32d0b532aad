"""Collects the paragraphs, lists, tables and notes of rich text."""

from __future__ import annotations

from dataclasses import dataclass, field

from penstock.pipeline.parse.office.pieces import Pieces


@dataclass(slots=True)
class ParagraphFormat:
    style: int = 0
    outline: int | None = None
    in_table: bool = False
    depth: int = 0


@dataclass(slots=True)
class RtfDocument:
    levels: dict[int, int] = field(default_factory=dict)
    """The heading level of each style that has one."""
    info: dict[str, str] = field(default_factory=dict)
    pieces: Pieces = field(default_factory=Pieces)
    format: ParagraphFormat = field(default_factory=ParagraphFormat)
    mark: str = ""
    """What a list item begins with, as the program that wrote the file shows it."""
    _cell: list[str] = field(default_factory=list)
    _row: list[str] = field(default_factory=list)
    _rows: list[list[str]] = field(default_factory=list)
    _notes: list[str] = field(default_factory=list)
    _boxes: list[str] = field(default_factory=list)

    def end_paragraph(self, text: str) -> None:
        mark, self.mark = self.mark, ""
        if self.format.in_table:
            self._cell.append(text)
            return
        self.end_table()
        level = self._level()
        if level:
            self.pieces.heading(level, text)
        elif mark:
            bare = mark.strip().rstrip(".)")
            self.pieces.item(text, self.format.depth, f"{bare}." if bare.isdecimal() else "-")
        else:
            self.pieces.paragraph(text)
        boxes, self._boxes = self._boxes, []
        for box in boxes:
            self.pieces.paragraph(box)

    def end_cell(self, text: str) -> None:
        self._cell.append(text)
        self._row.append(" ".join(self._cell))
        self._cell = []
        self.mark = ""

    def end_row(self) -> None:
        if self._row:
            self._rows.append(self._row)
        self._row = []

    def end_table(self) -> None:
        if self._cell and any(part.strip() for part in self._cell):
            self._row.append(" ".join(self._cell))
        self._cell = []
        self.end_row()
        if self._rows:
            self.pieces.table(self._rows)
            self._rows = []

    def note(self, text: str) -> str:
        """Keep a footnote for the end; returns the mark that stands for it in the text."""
        self._notes.append(text)
        return f"[{len(self._notes)}]"

    def box(self, text: str) -> None:
        self._boxes.append(text)

    def end(self) -> None:
        self.end_table()
        for box in self._boxes:
            self.pieces.paragraph(box)
        for number, note in enumerate(self._notes, start=1):
            self.pieces.paragraph(f"[{number}] {note}")

    def _level(self) -> int:
        if self.format.outline is not None and 0 <= self.format.outline < 9:
            return self.format.outline + 1
        return self.levels.get(self.format.style, 0)
