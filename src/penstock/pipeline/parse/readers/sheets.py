"""Reads XLSX: each visible sheet under its name, as its tables."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.office import ooxml
from penstock.pipeline.parse.office.package import Package
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.office.sheet import add_sheet, hidden_warning
from penstock.pipeline.parse.office.workbook import Workbook
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import parsed


class SheetsReader:
    def read(self, source: ParserInput) -> Parsed:
        pieces = Pieces()
        with Package(source.path) as package:
            book = Workbook(package)
            for place, sheet in enumerate(book.sheets, start=1):
                if not sheet.is_hidden:
                    add_sheet(pieces, cleaned_line(sheet.name) or str(place), book.rows(sheet))
                    book.add_drawings(pieces, sheet)
            about = ooxml.about(package)
        hidden = sum(sheet.is_hidden for sheet in book.sheets)
        return parsed([(None, pieces.text())], parser="xlsx", about=about, warnings=hidden_warning(hidden))


READER = SheetsReader()
