"""The shapes of a slide in the order of reading, with their place and what they are."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from penstock.pipeline.parse.office.package import Element, all_of, attribute, child, inner, local, number

_SHAPES = {"sp", "graphicFrame", "pic", "cxnSp"}
_NOT_READ = {"dt", "ftr", "sldNum", "hdr", "sldImg"}
_TITLES = ("title", "ctrTitle")


@dataclass(frozen=True, slots=True)
class Box:
    """Where something is on a slide."""

    left: int
    top: int
    right: int
    bottom: int


@dataclass(frozen=True, slots=True)
class Shape:
    element: Element
    role: str
    """The kind of its placeholder: title, ctrTitle, body, …; empty for a free shape."""
    box: Box | None

    @property
    def is_title(self) -> bool:
        return self.role in _TITLES


@dataclass(frozen=True, slots=True)
class _Scale:
    """From the coordinates inside a group to those of the slide."""

    factor_x: float = 1.0
    factor_y: float = 1.0
    offset_x: float = 0.0
    offset_y: float = 0.0

    def box(self, transform: Element | None) -> Box | None:
        offset, extent = child(transform, "off"), child(transform, "ext")
        if offset is None or extent is None:
            return None
        left = number(offset, "x") * self.factor_x + self.offset_x
        top = number(offset, "y") * self.factor_y + self.offset_y
        width, height = number(extent, "cx") * self.factor_x, number(extent, "cy") * self.factor_y
        return Box(int(left), int(top), int(left + width), int(top + height))

    def within(self, transform: Element | None) -> _Scale:
        outer = self.box(transform)
        offset, extent = child(transform, "chOff"), child(transform, "chExt")
        if outer is None or offset is None or extent is None:
            return self
        wide, high = number(extent, "cx"), number(extent, "cy")
        factor_x = (outer.right - outer.left) / wide if wide else self.factor_x
        factor_y = (outer.bottom - outer.top) / high if high else self.factor_y
        return _Scale(
            factor_x,
            factor_y,
            outer.left - number(offset, "x") * factor_x,
            outer.top - number(offset, "y") * factor_y,
        )


class Places:
    """Where the layout of a slide puts its placeholders."""

    def __init__(self, *layouts: Element | None) -> None:
        self._boxes: dict[tuple[str, str], Box] = {}
        for layout in layouts:
            for shape in all_of(layout, "sp") if layout is not None else ():
                held = next(all_of(shape, "ph"), None)
                box = _Scale().box(child(shape, "spPr", "xfrm"))
                if held is not None and box is not None:
                    kind = attribute(held, "type") or "body"
                    self._boxes.setdefault(("type", kind), box)
                    self._boxes.setdefault(("idx", attribute(held, "idx") or ""), box)

    def of(self, placeholder: Element) -> Box | None:
        kind, index = attribute(placeholder, "type"), attribute(placeholder, "idx")
        return self._boxes.get(("idx", index or "-")) or self._boxes.get(("type", kind or "body"))


def shapes(tree: Iterable[Element], places: Places, scale: _Scale = _Scale()) -> Iterator[Shape]:  # noqa: B008
    """The visible shapes of a slide, those in groups included, in the order in which they are drawn."""
    for one in tree:
        name = local(one)
        if name == "grpSp":
            if not _is_hidden(one):
                yield from shapes(one, places, scale.within(child(one, "grpSpPr", "xfrm")))
        elif name == "AlternateContent":
            yield from shapes(list(inner(one, "Choice")) or inner(one, "Fallback"), places, scale)
        elif name in _SHAPES and not _is_hidden(one):
            held = next(
                (ph for part in one if local(part).startswith("nv") for ph in all_of(part, "ph")), None
            )
            role = (attribute(held, "type") or "body") if held is not None else ""
            if role in _NOT_READ:
                continue
            transform = child(one, "xfrm") if name == "graphicFrame" else child(one, "spPr", "xfrm")
            box = scale.box(transform)
            if box is None and held is not None:
                box = places.of(held)
            yield Shape(one, role, box)


def _is_hidden(shape: Element) -> bool:
    return any(
        attribute(properties, "hidden") in ("1", "true")
        for part in shape
        if local(part).startswith("nv")
        for properties in part
        if local(properties) == "cNvPr"
    )


Placed = TypeVar("Placed")


def reading_order(placed: Sequence[tuple[Placed, Box | None]]) -> list[Placed]:
    """From top to bottom in rows, and from left to right within a row; those without a place come first.

    Two shapes are in one row if they share at least half of the height of the lower one.
    """
    found = [one for one, box in placed if box is None]
    waiting = sorted(
        ((one, box) for one, box in placed if box is not None), key=lambda pair: (pair[1].top, pair[1].left)
    )
    row: list[tuple[Placed, Box]] = []
    for one, box in waiting:
        if row and not _in_row(row[0][1], box):
            found += (each for each, _ in sorted(row, key=lambda pair: pair[1].left))
            row = []
        row.append((one, box))
    return [*found, *(each for each, _ in sorted(row, key=lambda pair: pair[1].left))]


def _in_row(first: Box, other: Box) -> bool:
    shared = min(first.bottom, other.bottom) - max(first.top, other.top)
    return 2 * shared >= max(1, min(first.bottom - first.top, other.bottom - other.top))
