"""Reads DOCX: headings, lists, tables, text boxes, charts, footnotes."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse.office import ooxml
from penstock.pipeline.parse.office.package import Package
from penstock.pipeline.parse.office.word import read_word
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import parsed


class WordReader:
    def read(self, source: ParserInput) -> Parsed:
        with Package(source.path) as package:
            # Page breaks are known only when the document is laid out, so blocks have no page.
            return parsed([(None, read_word(package))], parser="docx", about=ooxml.about(package))


READER = WordReader()
