"""Reads what the Office formats share: properties, charts, diagrams and formulas."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.office.package import (
    Element,
    Package,
    all_of,
    attribute,
    child,
    local,
    number,
    words_of,
)
from penstock.pipeline.parse.office.pieces import Pieces
from penstock.pipeline.parse.result import FileMetadata, described, primary

_MOST_POINTS = 10_000


def main_part(package: Package, usual: str) -> str:
    """The name of the part that holds the document."""
    for kind, target in package.related("").values():
        if kind == "officeDocument" and target in package.names:
            return target
    return usual


def about(package: Package) -> FileMetadata:
    named = (target for kind, target in package.related("").values() if kind == "core-properties")
    root = package.xml(next(named, "docProps/core.xml"))
    said = {local(one): words_of(one) for one in (root if root is not None else ())}
    return FileMetadata(
        title=cleaned_line(said.get("title")),
        author=cleaned_line(said.get("creator") or said.get("lastModifiedBy")),
        created_at=moment(said.get("created")),
        modified_at=moment(said.get("modified")),
        language=primary(said.get("language")),
        metadata=described(
            subject=said.get("subject") or said.get("description"), keywords=said.get("keywords")
        ),
    )


def add_chart(pieces: Pieces, chart: Element) -> None:
    """A chart as its titles and a table: a row per category, a column per series."""
    for title in all_of(chart, "title"):
        pieces.paragraph(" ".join(words_of(one) for one in all_of(title, "t")))
    series = list(all_of(chart, "ser"))
    if not series:
        return
    names = [" ".join(_points(child(one, "tx")).values()) for one in series]
    values = [_points(_first(one, "val", "yVal")) for one in series]
    categories = next((found for one in series if (found := _points(_first(one, "cat", "xVal")))), {})
    places = sorted(set(categories).union(*values))[:_MOST_POINTS]
    rows = [["", *names]] if any(names) else []
    rows += [[categories.get(at, ""), *(each.get(at, "") for each in values)] for at in places]
    pieces.table(rows)


def _first(element: Element, *names: str) -> Element | None:
    return next((one for one in element if local(one) in names), None)


def _points(element: Element | None) -> dict[int, str]:
    """The values that the program last showed, by their place."""
    if element is None:
        return {}
    found = {number(one, "idx"): words_of(child(one, "v")) for one in all_of(element, "pt")}
    return found or {0: words_of(child(element, "v"))} if child(element, "v") is not None else found


def add_diagram(pieces: Pieces, data: Element) -> None:
    """The words of a diagram (SmartArt), a list item per point."""
    for point in all_of(data, "pt"):
        if attribute(point, "type") not in ("pres", "parTrans", "sibTrans"):
            pieces.item(" ".join(drawn_paragraphs(child(point, "t"))))


def drawn_paragraphs(body: Element | None) -> Iterator[str]:
    """The paragraphs of text in a drawing."""
    for paragraph in all_of(body, "p") if body is not None else ():
        yield drawn_words(paragraph)


def drawn_words(paragraph: Element) -> str:
    parts = []
    for one in paragraph:
        name = local(one)
        if name in ("r", "fld"):
            said = child(one, "t")
            parts.append((said.text or "") if said is not None else "")
        elif name == "br":
            parts.append("\n")
        elif name in ("m", "AlternateContent", "oMath", "oMathPara"):
            parts.append(formula(one))
    return "".join(parts)


def formula(element: Element) -> str:
    """A formula on one line: a/b for fractions, x^2 and x_i for what is raised and lowered."""
    name = local(element)
    if name == "t":
        return element.text or ""
    if name == "f":
        over, under = formula_of(child(element, "num")), formula_of(child(element, "den"))
        return f"{_grouped(over)}/{_grouped(under)}"
    if name in ("sSup", "sSub", "sSubSup"):
        text = formula_of(child(element, "e"))
        for part, sign in (("sub", "_"), ("sup", "^")):
            held = child(element, part)
            text += sign + _grouped(formula_of(held)) if held is not None else ""
        return text
    if name == "rad":
        return f"√{_grouped(formula_of(child(element, 'e')))}"
    if name == "Fallback":
        return ""
    return "".join(map(formula, element))


def formula_of(element: Element | None) -> str:
    return formula(element) if element is not None else ""


def _grouped(text: str) -> str:
    return text if len(text) < 2 or text.isalnum() else f"({text})"
