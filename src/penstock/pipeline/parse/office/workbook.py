"""Reads XLSX files: the cells of each sheet as a person sees them."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from typing import NamedTuple
from xml.etree import ElementTree as ET

from penstock.pipeline.parse.office import ooxml
from penstock.pipeline.parse.office.cell_formats import BUILT_IN, plain, shown
from penstock.pipeline.parse.office.package import (
    Element,
    Package,
    all_of,
    attribute,
    child,
    inner,
    local,
    number,
    without_entities,
    words_of,
)
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.office.sheet import Row
from penstock.pipeline.reasons import Reason, rejected

_COLUMN = re.compile(r"[A-Z]{1,3}")
_MOST_COLUMNS = 16_384
_HIDDEN = ("hidden", "veryHidden")


class Sheet(NamedTuple):
    name: str
    part: str
    is_hidden: bool


class Workbook:
    def __init__(self, package: Package) -> None:
        self._package = package
        name = ooxml.main_part(package, "xl/workbook.xml")
        root = package.required(name)
        related = package.related(name)
        parts = dict(related.values())
        properties = child(root, "workbookPr")
        self._from_1904 = properties is not None and attribute(properties, "date1904") in ("1", "true")
        self._strings = [_string(one) for one in inner(package.xml(parts.get("sharedStrings", "")))]
        self._formats = _formats(package.xml(parts.get("styles", "")))
        self.sheets = []
        for one in inner(root, "sheets"):
            relation = next((value for key, value in one.attrib.items() if key.endswith("}id")), "")
            kind, target = related.get(relation, ("", ""))
            if kind == "worksheet":
                said = attribute(one, "name") or ""
                self.sheets.append(Sheet(said, target, attribute(one, "state") in _HIDDEN))

    def rows(self, sheet: Sheet) -> Iterator[Row]:
        """The rows with cells; an empty one stands for a gap."""
        data = self._package.data(sheet.part) or b""
        last = 0
        try:
            for _, element in ET.iterparse(io.BytesIO(without_entities(data, sheet.part))):  # noqa: S314
                name = local(element)
                if name == "row":
                    place = number(element, "r", last + 1)
                    if place > last + 1:
                        yield {}
                    last = place
                    yield self._row(element)
                    element.clear()
                elif name == "sheetData":
                    return
        except ET.ParseError as error:
            raise rejected(Reason.MALFORMED, f"a sheet is not valid XML: {error}") from error

    def add_drawings(self, pieces: Pieces, sheet: Sheet) -> None:
        """The text boxes over a sheet, and the titles of its charts, whose figures are in cells."""
        for kind, target in self._package.related(sheet.part).values():
            root = self._package.xml(target) if kind == "drawing" else None
            for body in all_of(root, "txBody") if root is not None else ():
                for said in ooxml.drawn_paragraphs(body):
                    pieces.paragraph(said)
            for inside, chart in self._package.related(target).values() if root is not None else ():
                held = self._package.xml(chart) if inside == "chart" else None
                for title in all_of(held, "title") if held is not None else ():
                    pieces.paragraph(" ".join(words_of(one) for one in all_of(title, "t")))

    def _row(self, row: Element) -> Row:
        found = {}
        at = -1
        for cell in row:
            if local(cell) == "c":
                at = _column(attribute(cell, "r"), at + 1)
                said = self._cell(cell).strip()
                if said and at < _MOST_COLUMNS:
                    found[at] = said
        return found

    def _cell(self, cell: Element) -> str:
        kind = attribute(cell, "t") or "n"
        if kind == "inlineStr":
            held = child(cell, "is")
            return _string(held) if held is not None else ""
        value = child(cell, "v")
        text = (value.text or "") if value is not None else ""
        if kind == "s":
            place = int(text) if text.isdecimal() and len(text) < 10 else -1
            return self._strings[place] if 0 <= place < len(self._strings) else ""
        if kind == "b":
            return "TRUE" if text == "1" else "FALSE"
        if kind != "n" or not text:
            return text
        try:
            figure = float(text)
        except ValueError:
            return text
        code = self._formats.get(number(cell, "s"))
        try:
            return shown(figure, code, from_1904=self._from_1904) if code else plain(figure)
        except (OverflowError, ValueError):  # infinite, or a date beyond the calendar
            return text


def _column(reference: str | None, default: int) -> int:
    found = _COLUMN.match(reference or "")
    if found is None:
        return default
    place = 0
    for letter in found[0]:
        place = place * 26 + ord(letter) - 64
    return place - 1


def _string(element: Element) -> str:
    """A text with its differently formatted parts, but not how it is pronounced."""
    parts = []
    for one in element:
        if local(one) == "t":
            parts.append(one.text or "")
        elif local(one) == "r":
            parts += ((each.text or "") for each in one if local(each) == "t")
    return "".join(parts)


def _formats(styles: Element | None) -> dict[int, str]:
    """The format of each style that has one other than General."""
    if styles is None:
        return {}
    codes = dict(BUILT_IN)
    for one in inner(styles, "numFmts"):
        codes[number(one, "numFmtId")] = attribute(one, "formatCode") or ""
    found = {}
    for place, one in enumerate(inner(styles, "cellXfs")):
        if code := codes.get(number(one, "numFmtId")):
            found[place] = code
    return found
