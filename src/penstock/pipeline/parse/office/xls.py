"""Reads XLS files: names and protection from its records, the cells by xberg."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import NamedTuple

from penstock.model import media
from penstock.pipeline.parse import engine
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.compound import CompoundFile
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.office.sheet import add_sheet, filled
from penstock.pipeline.reasons import Reason, rejected

_PASSWORD, _END, _SHEET = 0x002F, 0x000A, 0x0085
_WIDE = 1
_MOST_RECORDS = 1_000_000
_SHOWN = {
    "true": "TRUE",
    "false": "FALSE",
    "#ERR: NA": "#N/A",
    "#ERR: Div0": "#DIV/0!",
    "#ERR: Ref": "#REF!",
    "#ERR: Name": "#NAME?",
    "#ERR: Null": "#NULL!",
    "#ERR: Num": "#NUM!",
    "#ERR: Value": "#VALUE!",
}


class SheetName(NamedTuple):
    name: str
    is_hidden: bool


def sheet_names(file: CompoundFile) -> list[SheetName]:
    """The sheets as the first records list them; rejects a workbook with a password."""
    book = file.stream("Workbook") or file.stream("Book") or b""
    if not book:
        raise rejected(Reason.MALFORMED, "the file contains no workbook")
    found = []
    at = 0
    for _ in range(_MOST_RECORDS):
        if at + 4 > len(book):
            break
        kind, size = struct.unpack_from("<HH", book, at)
        if kind == _PASSWORD:
            raise rejected(Reason.ENCRYPTED, "the office file is protected by a password")
        if kind == _SHEET and size >= 8:
            found.append(_sheet_name(book[at + 4 : at + 4 + size]))
        if kind == _END:
            break
        at += 4 + size
    return found


def _sheet_name(record: bytes) -> SheetName:
    state, length, width = record[4], record[6], record[7]
    said = record[8:].decode("utf-16-le" if width & _WIDE else "latin-1", "replace")[:length]
    return SheetName(said, state & 3 != 0)


def read_xls(path: Path, names: list[SheetName]) -> str:
    """Each visible sheet under its name, as its tables."""
    document = engine.extract(path, mime_type=media.XLS, filename="document.xls")
    pages = {page.page_number: page.sheet_name or "" for page in document.pages or ()}
    hidden = {one.name for one in names if one.is_hidden}
    pieces = Pieces()
    for table in document.tables:
        # Without pages there is one sheet.
        name = pages.get(table.page_number) or (names[0].name if len(names) == 1 else str(table.page_number))
        if name not in hidden:
            rows = ([_SHOWN.get(cell, cell) for cell in row] for row in table.cells)
            add_sheet(pieces, cleaned_line(name) or str(table.page_number), map(filled, rows))
    return pieces.text()
