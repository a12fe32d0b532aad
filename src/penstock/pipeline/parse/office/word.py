"""Reads the flow of a DOCX file: headings, paragraphs, lists, tables, text boxes, notes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from penstock.pipeline.parse.office import ooxml
from penstock.pipeline.parse.office.package import (
    Element,
    Package,
    all_of,
    attribute,
    child,
    inner,
    local,
    number,
)
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.office.word_styles import WordStyles

_INLINE = {"hyperlink", "ins", "moveTo", "smartTag", "fldSimple", "dir", "bdo", "customXml", "sdtContent"}
_BLOCKS = {"sdtContent", "customXml", "ins", "moveTo"}
_BREAKS = {"br": "\n", "cr": "\n", "tab": "\t", "ptab": "\t", "noBreakHyphen": "-"}
_MOST_SPANNED = 64
_LAYOUT_PARAGRAPHS = 3
"""A cell with a heading and more paragraphs than this is part of a page's layout, not of a data table."""
_OFF = ("0", "false", "off")


class WordFlow:
    """Writes a document into pieces; notes come at the end, as in print."""

    def __init__(self, package: Package, name: str) -> None:
        self._package = package
        self._related = package.related(name)
        parts = dict(self._related.values())
        self._styles = WordStyles(
            package.xml(parts.get("styles", "")), package.xml(parts.get("numbering", ""))
        )
        self._notes = {
            (kind, attribute(note, "id")): note
            for kind in ("footnote", "endnote")
            for note in inner(package.xml(parts.get(f"{kind}s", "")))
        }
        self._cited: list[Element] = []
        self._fields: list[bool] = []
        """For each open field, whether its result has begun; what comes before is its code."""
        self._drawings: list[Element] = []
        self.pieces = Pieces()

    def read(self, body: Iterable[Element]) -> None:
        self._blocks(body)
        for mark, note in enumerate(self._cited, start=1):
            self.pieces.paragraph(f"[{mark}] {' '.join(self._inside(note))}")

    def _blocks(self, parent: Iterable[Element]) -> None:
        for one in parent:
            name = local(one)
            if name == "p":
                self._paragraph(one)
            elif name == "tbl":
                self._table(one)
            elif name == "sdt":
                self._blocks(inner(one, "sdtContent"))
            elif name in _BLOCKS:
                self._blocks(one)
            elif name == "AlternateContent":
                self._blocks(_chosen(one))

    def _paragraph(self, paragraph: Element) -> None:
        properties = child(paragraph, "pPr")
        drawn_before, self._drawings = self._drawings, []
        text = "".join(self._words(paragraph))
        drawings, self._drawings = self._drawings, drawn_before
        level = self._styles.level(properties)
        if level:
            self.pieces.heading(level, text)
        elif text.strip():
            item = self._styles.item(properties)
            if item is None:
                self.pieces.paragraph(text)
            else:
                self.pieces.item(text, *item)
        for drawing in drawings:
            self._drawing(drawing)

    def _words(self, parent: Iterable[Element]) -> Iterator[str]:
        for one in parent:
            name = local(one)
            if name == "r":
                if not _is_hidden(child(one, "rPr")):
                    yield from self._run(one)
            elif name in _INLINE:
                yield from self._words(one)
            elif name == "sdt":
                yield from self._words(inner(one, "sdtContent"))
            elif name == "AlternateContent":
                yield from self._words(_chosen(one))
            elif name in ("oMath", "oMathPara"):
                yield f" {ooxml.formula(one)} "

    def _run(self, run: Iterable[Element]) -> Iterator[str]:
        for one in run:
            name = local(one)
            if name == "fldChar":
                self._field(attribute(one, "fldCharType"))
            elif not all(self._fields):
                continue
            elif name == "t":
                yield one.text or ""
            elif name in _BREAKS:
                yield _BREAKS[name]
            elif name in ("footnoteReference", "endnoteReference"):
                note = self._notes.get((name.removesuffix("Reference"), attribute(one, "id")))
                if note is not None and attribute(note, "type") in (None, "normal"):
                    self._cited.append(note)
                    yield f"[{len(self._cited)}]"
            elif name == "AlternateContent":
                yield from self._run(_chosen(one))
            elif name in ("drawing", "pict", "object"):
                self._drawings.append(one)
            elif name == "ruby":
                yield from self._words(inner(one, "rubyBase"))

    def _field(self, kind: str | None) -> None:
        if kind == "begin":
            self._fields.append(False)
        elif kind == "separate" and self._fields:
            self._fields[-1] = True
        elif kind == "end" and self._fields:
            self._fields.pop()

    def _drawing(self, drawing: Element) -> None:
        """Text boxes with all they hold, charts, diagrams, and the descriptions of pictures."""
        boxes = list(_boxes(drawing))
        for box in boxes:
            self._blocks(box)
        for one in drawing.iter():
            name = local(one)
            if name == "chart" and (root := self._part(attribute(one, "id"))) is not None:
                ooxml.add_chart(self.pieces, root)
            elif name == "relIds" and (root := self._part(attribute(one, "dm"))) is not None:
                ooxml.add_diagram(self.pieces, root)
        if not boxes:
            described = (attribute(one, "descr") for one in all_of(drawing, "docPr"))
            self.pieces.paragraph(" ".join(filter(None, described)))

    def _part(self, relation: str | None) -> Element | None:
        _, target = self._related.get(relation or "", ("", ""))
        return self._package.xml(target)

    def _table(self, table: Element) -> None:
        rows = list(_rows(table))
        cells = [cell for row in rows for cell in _cells(row)]
        if len(cells) == len(rows) or any(map(self._is_layout, cells)):
            for cell in cells:
                self._blocks(cell)
            return
        self.pieces.table([self._row(row) for row in rows])

    def _is_layout(self, cell: Element) -> bool:
        paragraphs = [one for one in cell if local(one) == "p"]
        return len(paragraphs) > _LAYOUT_PARAGRAPHS and any(
            self._styles.level(child(one, "pPr")) for one in paragraphs
        )

    def _row(self, row: Element) -> list[str]:
        """Its cells; those that a merged one covers are empty."""
        before = child(row, "trPr", "gridBefore")
        said = [""] * min(number(before, "val"), _MOST_SPANNED) if before is not None else []
        for cell in _cells(row):
            properties = child(cell, "tcPr")
            merged = child(properties, "vMerge")
            is_covered = merged is not None and attribute(merged, "val") != "restart"
            said.append("" if is_covered else " ".join(self._inside(cell)))
            span = child(properties, "gridSpan")
            if span is not None:
                said += [""] * (min(number(span, "val", 1), _MOST_SPANNED) - 1)
        return said

    def _inside(self, parent: Iterable[Element]) -> Iterator[str]:
        """The text of a cell or a note, paragraph by paragraph, without structure."""
        for one in parent:
            name = local(one)
            if name == "p":
                drawn_before, self._drawings = self._drawings, []
                yield " ".join("".join(self._words(one)).split())
                drawings, self._drawings = self._drawings, drawn_before
                for drawing in drawings:
                    for box in _boxes(drawing):
                        yield from self._inside(box)
            elif name == "tbl":
                for row in _rows(one):
                    yield " ".join(filter(None, self._row(row)))
            elif name == "sdt":
                yield from self._inside(inner(one, "sdtContent"))
            elif name in _BLOCKS:
                yield from self._inside(one)


def _chosen(alternatives: Element) -> Iterable[Element]:
    """The first alternative: the others say the same for old programs."""
    choice = next((one for one in alternatives if local(one) == "Choice" and len(one)), None)
    return choice if choice is not None else inner(alternatives, "Fallback")


def _boxes(drawing: Element) -> Iterator[Element]:
    """The outermost text boxes, each once."""
    for one in drawing:
        name = local(one)
        if name == "txbxContent":
            yield one
        elif name == "AlternateContent":
            for each in _chosen(one):
                yield from [each] if local(each) == "txbxContent" else _boxes(each)
        else:
            yield from _boxes(one)


def _rows(table: Iterable[Element]) -> Iterator[Element]:
    for one in table:
        name = local(one)
        if name == "tr":
            properties = child(one, "trPr")
            if child(properties, "del") is None and not _is_on(child(properties, "hidden")):
                yield one
        elif name == "sdt":
            yield from _rows(inner(one, "sdtContent"))
        elif name in _BLOCKS:
            yield from _rows(one)


def _cells(row: Iterable[Element]) -> Iterator[Element]:
    for one in row:
        name = local(one)
        if name == "tc":
            yield one
        elif name == "sdt":
            yield from _cells(inner(one, "sdtContent"))
        elif name in _BLOCKS:
            yield from _cells(one)


def _is_hidden(properties: Element | None) -> bool:
    return _is_on(child(properties, "vanish"))


def _is_on(element: Element | None) -> bool:
    return element is not None and attribute(element, "val") not in _OFF


def read_word(package: Package) -> str:
    """The text of a DOCX file."""
    name = ooxml.main_part(package, "word/document.xml")
    flow = WordFlow(package, name)
    flow.read(inner(package.required(name), "body"))
    return flow.pieces.text()
