"""Reads DOCX: headings, lists, tables, footnotes."""

from __future__ import annotations

from penstock.model import Parsed, media
from penstock.pipeline.parse import engine, guards
from penstock.pipeline.parse.protocol import Paper
from penstock.pipeline.parse.result import About, parsed


class WordReader:
    def read(self, paper: Paper) -> Parsed:
        guards.check_office(paper.path)
        document = engine.extract(paper.path, mime_type=media.DOCX, filename="document.docx")
        # Where a page ends is known only to the program that prints it, so blocks carry no page.
        return parsed([(None, engine.prose(document.content))], parser="xberg", about=About.of(document))


READER = WordReader()
