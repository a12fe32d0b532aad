"""Reads XLSX: each sheet under its name, as a table."""

from __future__ import annotations

import re

from penstock.model import Parsed, media
from penstock.pipeline.parse import engine, guards
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import FileMetadata, parsed

_CELL = re.compile(r"^\|.*\w", re.M)
"""xberg returns an empty sheet with its name or with empty cells."""


class SheetsReader:
    def read(self, source: ParserInput) -> Parsed:
        guards.check_office(source.path)
        document = engine.extract(source.path, mime_type=media.XLSX, filename="document.xlsx")
        sheets = [
            f"## {cleaned_line(sheet.sheet_name) or sheet.page_number}\n\n{sheet.content}"
            for sheet in document.pages or ()
            if _CELL.search(sheet.content)
        ]
        about = FileMetadata.of(document)
        # Without pages there is one sheet, whose name is in the content.
        whole = sheets or ([document.content] if document.tables else [])
        return parsed([(None, engine.prose(sheet)) for sheet in whole], parser="xberg", about=about)


READER = SheetsReader()
