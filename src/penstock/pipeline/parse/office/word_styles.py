"""What styles and lists of a DOCX file say of a paragraph: the level of a heading, the mark of an item."""

from __future__ import annotations

import re
from collections import defaultdict

from penstock.pipeline.parse.office.package import Element, all_of, attribute, child, local, number

_HEADING = re.compile(r"heading ([1-9])", re.I)
_BODY_LEVEL = 9


class WordStyles:
    def __init__(self, styles: Element | None, numbering: Element | None) -> None:
        self._styles = {
            attribute(one, "styleId") or "": one
            for one in (styles if styles is not None else ())
            if local(one) == "style"
        }
        self._levels: dict[str, int] = {}
        self._formats = _formats(numbering)
        self._counts: defaultdict[str, dict[int, int]] = defaultdict(dict)

    def level(self, properties: Element | None) -> int:
        """The level of a heading with these paragraph properties; 0 for other paragraphs."""
        own = child(properties, "outlineLvl")
        if own is not None:
            level = number(own, "val", _BODY_LEVEL)
            return level + 1 if 0 <= level < _BODY_LEVEL else 0
        style = child(properties, "pStyle")
        return self._style_level(attribute(style, "val") or "") if style is not None else 0

    def _style_level(self, name: str) -> int:
        if name not in self._levels:
            self._levels[name] = 0  # a style may be based on itself
            self._levels[name] = self._found_level(name)
        return self._levels[name]

    def _found_level(self, name: str) -> int:
        style = self._styles.get(name)
        if style is None:
            found = _HEADING.fullmatch(re.sub(r"(?<=\D)(?=\d)", " ", name))  # files without their styles
            return int(found[1]) if found else 0
        title = (_value(style, "name") or "").lower()
        if found := _HEADING.fullmatch(title):
            return int(found[1])
        if title == "title":
            return 1
        outline = child(style, "pPr", "outlineLvl")
        if outline is not None:
            level = number(outline, "val", _BODY_LEVEL)
            return level + 1 if 0 <= level < _BODY_LEVEL else 0
        based = _value(style, "basedOn")
        return self._style_level(based) if based else 0

    def item(self, properties: Element | None) -> tuple[int, str] | None:
        """The depth and the mark of a list item; None for other paragraphs."""
        held = child(properties, "numPr")
        if held is None:
            style = child(properties, "pStyle")
            held = self._style_numbers(attribute(style, "val") or "" if style is not None else "")
        if held is None:
            return None
        listed, depth = _value(held, "numId") or "0", _value(held, "ilvl") or "0"
        at = int(depth) if depth.isdecimal() and len(depth) < 3 else 0
        if listed == "0":
            return None
        form = self._formats.get((listed, at), "bullet")
        if form == "none":
            return None
        if form == "bullet":
            return at, "-"
        counts = self._counts[listed]
        counts[at] = counts.get(at, 0) + 1
        for deeper in [one for one in counts if one > at]:
            del counts[deeper]
        return at, f"{counts[at]}."

    def _style_numbers(self, name: str) -> Element | None:
        for _ in range(20):
            style = self._styles.get(name)
            if style is None:
                return None
            held = child(style, "pPr", "numPr")
            if held is not None:
                return held
            name = _value(style, "basedOn") or ""
        return None


def _value(element: Element, name: str) -> str | None:
    held = child(element, name)
    return attribute(held, "val") if held is not None else None


def _formats(numbering: Element | None) -> dict[tuple[str, int], str]:
    """The number format of each list and depth."""
    if numbering is None:
        return {}
    abstract = {attribute(one, "abstractNumId"): one for one in numbering if local(one) == "abstractNum"}
    found = {}
    for one in numbering:
        if local(one) != "num":
            continue
        held = abstract.get(_value(one, "abstractNumId"))
        for level in all_of(held, "lvl") if held is not None else ():
            place = (attribute(one, "numId") or "", number(level, "ilvl"))
            found[place] = _value(level, "numFmt") or "decimal"
    return found
