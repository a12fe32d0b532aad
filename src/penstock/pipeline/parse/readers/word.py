"""Reads DOCX: headings, lists, tables, footnotes."""

from __future__ import annotations

from penstock.model import Parsed, media
from penstock.pipeline.parse import engine, guards
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import FileMetadata, parsed


class WordReader:
    def read(self, source: ParserInput) -> Parsed:
        guards.check_office(source.path)
        document = engine.extract(source.path, mime_type=media.DOCX, filename="document.docx")
        # Page breaks are known only when the document is laid out, so blocks have no page.
        return parsed(
            [(None, engine.prose(document.content))], parser="xberg", about=FileMetadata.of(document)
        )


READER = WordReader()
