"""Reads DOC files: headings, paragraphs, lists, tables, notes and text boxes."""

from __future__ import annotations

import re

from penstock.pipeline.parse.compound import CompoundFile
from penstock.pipeline.parse.office.doc_properties import DEPTH, IN_TABLE, LIST, OUTLINE, ROW_END, Run
from penstock.pipeline.parse.office.doc_text import DocText
from penstock.pipeline.parse.office.pieces import Pieces

_END = re.compile(r"[\r\x07\x0c]")
_DROPPED = dict.fromkeys([*range(9), 0x0E, 0x0F, *range(0x10, 0x1E), 0x1F])
_SPECIAL = {ord("\x0b"): "\n", ord("\x1e"): "-", ord("\x0e"): "\n"}
_NOTE = re.compile("\x02")
_NO_LIST = (0, 0xF801)
_BODY_LEVEL = 9


def read_doc(file: CompoundFile) -> str:
    """The text of a DOC file; headers, footers and comments are left out."""
    document = DocText(file)
    pieces = Pieces()
    _Flow(document, pieces).read(*document.main)
    _Flow(document, pieces).read(*document.boxes)
    first = _add_notes(document, pieces, document.notes, 1)
    _add_notes(document, pieces, document.end_notes, first)
    return pieces.text()


class _Flow:
    def __init__(self, document: DocText, pieces: Pieces) -> None:
        self._document = document
        self._pieces = pieces
        self._cell: list[str] = []
        self._row: list[str] = []
        self._rows: list[list[str]] = []
        self._notes = 0

    def read(self, start: int, end: int) -> None:
        at = start
        text = self._document.text
        for found in _END.finditer(text, start, end):
            run = self._document.paragraph(found.start())
            self._paragraph(self._words(text[at : found.start()]), run, found[0] == "\x07")
            at = found.end()
        self._paragraph(self._words(text[at:end]), None, False)
        self._end_table()

    def _words(self, text: str) -> str:
        def mark(_: re.Match[str]) -> str:
            self._notes += 1
            return f"[{self._notes}]"

        return visible(_NOTE.sub(mark, text))

    def _paragraph(self, text: str, run: Run | None, ends_cell: bool) -> None:
        style, changes = (run.style, run.changes) if run is not None else (0, {})
        if changes.get(ROW_END):
            self._rows.append(self._row)
            self._row, self._cell = [], []
        elif changes.get(IN_TABLE):
            self._cell.append(text)
            if ends_cell:
                self._row.append(" ".join(filter(None, self._cell)))
                self._cell = []
        else:
            self._end_table()
            self._plain(text, style, changes)

    def _plain(self, text: str, style: int, changes: dict[int, int]) -> None:
        styles = self._document.styles
        own = changes.get(OUTLINE)
        level = styles.level(style) if own is None else (own + 1 if own < _BODY_LEVEL else 0)
        listed = changes.get(LIST, styles.setting(style, LIST))
        if level:
            self._pieces.heading(level, text)
        elif listed not in _NO_LIST:
            self._pieces.item(text, min(changes.get(DEPTH, styles.setting(style, DEPTH)), 9))
        else:
            self._pieces.paragraph(text)

    def _end_table(self) -> None:
        if self._cell or self._row:
            self._rows.append([*self._row, *filter(None, [" ".join(self._cell)])])
            self._cell, self._row = [], []
        if self._rows:
            self._pieces.table(self._rows)
            self._rows = []


def visible(text: str) -> str:
    """What a person sees of the characters; those beyond the basic plane come as two halves."""
    shown = text.translate(_DROPPED | _SPECIAL)
    return shown.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def _add_notes(document: DocText, pieces: Pieces, part: tuple[int, int], first: int) -> int:
    """Write the notes under their numbers; returns the next number."""
    before, *notes = _NOTE.split(document.text[slice(*part)])
    pieces.paragraph(visible(before.replace("\r", "\n")))
    for number, note in enumerate(notes, start=first):
        pieces.paragraph(f"[{number}] {' '.join(visible(note.replace(chr(13), chr(10))).split())}")
    return first + len(notes)
