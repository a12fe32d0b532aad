"""Reads the slides of a PPTX file: title, text, tables, charts, diagrams, speaker's notes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from penstock.pipeline.parse.office import ooxml
from penstock.pipeline.parse.office.package import Element, Package, all_of, attribute, child, inner, local
from penstock.pipeline.parse.office.package import number as number_of
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.office.slide_shapes import Places, Shape, reading_order, shapes

_MOST_TITLE = 200


class Slide(NamedTuple):
    number: int
    text: str


def read_slides(package: Package) -> list[Slide]:
    """The slides in order, with those that are skipped in a show: they are visible in the file."""
    name = ooxml.main_part(package, "ppt/presentation.xml")
    related = package.related(name)
    found = []
    layouts = _Layouts(package)
    listed = inner(package.required(name), "sldIdLst")
    for place, one in enumerate((one for one in listed if local(one) == "sldId"), start=1):
        relation = next((value for key, value in one.attrib.items() if key.endswith("}id")), "")
        _, target = related.get(relation, ("", ""))
        root = package.xml(target)
        if root is not None:
            found.append(Slide(place, _SlideReader(package, target, layouts).read(root)))
    return found


class _Layouts:
    """The layouts of slides; each is read once, since many slides share one."""

    def __init__(self, package: Package) -> None:
        self._package = package
        self._known: dict[str, Places] = {}

    def places(self, name: str) -> Places:
        """Where this layout and its master put placeholders."""
        if name not in self._known:
            related = self._package.related(name).values()
            master = next((target for kind, target in related if kind == "slideMaster"), "")
            self._known[name] = Places(self._package.xml(name), self._package.xml(master))
        return self._known[name]


class _SlideReader:
    def __init__(self, package: Package, name: str, layouts: _Layouts) -> None:
        self._package = package
        self._layouts = layouts
        self._related = package.related(name)
        self._pieces = Pieces()

    def read(self, root: Element) -> str:
        found = list(shapes(inner(root, "cSld", "spTree"), self._layouts.places(self._target("slideLayout"))))
        title = next((shape for shape in found if shape.is_title and _said(shape)), None)
        if title is not None:
            self._pieces.heading(2, _said(title))
            found.remove(title)
        ordered = reading_order([(shape, shape.box) for shape in found])
        if title is None:
            ordered = self._untitled(ordered)
        for shape in ordered:
            self._shape(shape)
        self._notes()
        return self._pieces.text()

    def _untitled(self, ordered: list[Shape]) -> list[Shape]:
        """On a slide without a title, a short first line of one paragraph is its heading."""
        first = ordered[0] if ordered else None
        if first is None or first.role not in ("", "subTitle") or local(first.element) != "sp":
            return ordered
        said = [line for line in ooxml.drawn_paragraphs(child(first.element, "txBody")) if line.strip()]
        if len(said) == 1 and len(said[0]) <= _MOST_TITLE:
            self._pieces.heading(2, said[0])
            return ordered[1:]
        return ordered

    def _target(self, kind: str) -> str:
        return next((target for found, target in self._related.values() if found == kind), "")

    def _shape(self, shape: Shape) -> None:
        element = shape.element
        name = local(element)
        if name == "graphicFrame":
            self._graphic(element)
        elif name == "pic":
            properties = next(all_of(element, "cNvPr"), None)
            said = attribute(properties, "descr") if properties is not None else None
            self._pieces.paragraph(said or "")
        else:
            self._text(child(element, "txBody"), is_list=shape.role in ("body", "obj"))

    def _text(self, body: Element | None, *, is_list: bool) -> None:
        for paragraph in (one for one in inner(body) if local(one) == "p"):
            said = ooxml.drawn_words(paragraph)
            properties = child(paragraph, "pPr")
            depth = number_of(properties, "lvl") if properties is not None else 0
            marks = {local(one) for one in inner(properties)}
            if "buNone" not in marks and (depth or marks & {"buChar", "buAutoNum", "buBlip"}):
                self._pieces.item(said, depth if is_list else 0)
            else:
                self._pieces.paragraph(said)

    def _graphic(self, frame: Element) -> None:
        for one in frame.iter():
            name = local(one)
            if name == "tbl":
                self._pieces.table(list(_rows(one)))
            elif name == "chart" and (root := self._part(attribute(one, "id"))) is not None:
                ooxml.add_chart(self._pieces, root)
            elif name == "relIds" and (root := self._part(attribute(one, "dm"))) is not None:
                ooxml.add_diagram(self._pieces, root)

    def _part(self, relation: str | None) -> Element | None:
        _, target = self._related.get(relation or "", ("", ""))
        return self._package.xml(target)

    def _notes(self) -> None:
        root = self._package.xml(self._target("notesSlide"))
        said = [
            line.strip()
            for shape in shapes(inner(root, "cSld", "spTree"), Places())
            if shape.role == "body"
            for line in ooxml.drawn_paragraphs(child(shape.element, "txBody"))
        ]
        if any(said):
            self._pieces.paragraph("Notes: " + "\n".join(filter(None, said)))


def _said(shape: Shape) -> str:
    return " ".join(" ".join(ooxml.drawn_paragraphs(child(shape.element, "txBody"))).split())


def _rows(table: Element) -> Iterator[list[str]]:
    """The rows of a table; the cells a merged one covers are empty."""
    for row in (one for one in table if local(one) == "tr"):
        yield [
            ""
            if "1" in (attribute(cell, "hMerge"), attribute(cell, "vMerge"))
            else " ".join(ooxml.drawn_paragraphs(child(cell, "txBody")))
            for cell in row
            if local(cell) == "tc"
        ]
