"""Reads OpenDocument files: text (ODT), spreadsheets (ODS) and presentations (ODP)."""

from __future__ import annotations

import re

from penstock.model import Parsed, media
from penstock.pipeline.parse.clean import cleaned_line
from penstock.pipeline.parse.office.odf import OpenDocument
from penstock.pipeline.parse.office.odf_text import FlowReader
from penstock.pipeline.parse.office.package import Element, attribute, local
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.office.sheet import add_sheet, filled, hidden_warning
from penstock.pipeline.parse.office.slide_shapes import Box, reading_order
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.parse.result import parsed

_LENGTH = re.compile(r"(-?\d{1,9}(?:\.\d{1,9})?)(cm|mm|in|pt|px)")
_UNITS = {"cm": 1_000.0, "mm": 100.0, "in": 2_540.0, "pt": 35.28, "px": 26.46}
_NOT_READ = ("footer", "page-number", "date-time", "header")


class OpenDocumentReader:
    def read(self, source: ParserInput) -> Parsed:
        document = OpenDocument(source.path)
        if source.mime_type == media.ODP:
            pages = _slides(document)
            return parsed(pages, parser="opendocument", about=document.about, page_count=len(pages) or None)
        if source.mime_type == media.ODS:
            text, hidden = _sheets(document)
            warnings = hidden_warning(hidden)
            return parsed([(None, text)], parser="opendocument", about=document.about, warnings=warnings)
        return parsed([(None, _flow(document))], parser="opendocument", about=document.about)


def _flow(document: OpenDocument) -> str:
    pieces = Pieces()
    reader = FlowReader(document, pieces)
    reader.read(document.body)
    reader.end()
    return pieces.text()


def _sheets(document: OpenDocument) -> tuple[str, int]:
    """The text of the visible sheets, and the number of hidden ones."""
    hidden = 0
    pieces = Pieces()
    reader = FlowReader(document, pieces)
    for number, table in enumerate((one for one in document.body if local(one) == "table"), start=1):
        if attribute(table, "style-name") in document.styles.hidden:
            hidden += 1
            continue
        add_sheet(
            pieces, cleaned_line(attribute(table, "name")) or str(number), map(filled, reader.rows(table))
        )
        for shapes in (one for one in table if local(one) == "shapes"):
            reader.read(shapes)
    reader.end()
    return pieces.text(), hidden


def _slides(document: OpenDocument) -> list[tuple[int | None, str]]:
    pages = (page for page in document.body if local(page) == "page")
    return [(number, _slide(document, page)) for number, page in enumerate(pages, start=1)]


def _slide(document: OpenDocument, page: Element) -> str:
    """The title, then the shapes, then the speaker's notes."""
    pieces = Pieces()
    reader = FlowReader(document, pieces)
    shapes = [one for one in page if local(one) != "notes"]
    title = next((one for one in shapes if attribute(one, "class") == "title"), None)
    if title is not None:
        inner = Pieces()
        FlowReader(document, inner).read(title)
        pieces.heading(2, inner.text())
        shapes.remove(title)
    shown = [shape for shape in shapes if attribute(shape, "class") not in _NOT_READ]
    reader.read(reading_order([(shape, _box(shape)) for shape in shown]))
    reader.end()
    notes = Pieces()
    reader = FlowReader(document, notes)
    for one in (one for held in page if local(held) == "notes" for one in held):
        if attribute(one, "class") == "notes":
            reader.read([one])
    if said := notes.text():
        pieces.verbatim(f"Notes: {said}")
    return pieces.text()


def _box(shape: Element) -> Box | None:
    """Where a shape is; a group is where its first shape is."""
    for one in shape.iter():
        sizes = [_length(attribute(one, name)) for name in ("x", "y", "width", "height")]
        if sizes[0] is not None and sizes[1] is not None:
            left, top, wide, high = (size or 0 for size in sizes)
            return Box(left, top, left + wide, top + high)
    return None


def _length(value: str | None) -> int | None:
    """A length in hundredths of a millimetre."""
    found = _LENGTH.fullmatch(value or "")
    return int(float(found[1]) * _UNITS[found[2]]) if found else None


READER = OpenDocumentReader()
