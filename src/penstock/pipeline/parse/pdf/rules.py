"""The lines drawn on a PDF page, horizontal and vertical, from its paths."""

from __future__ import annotations

import ctypes
import itertools
from collections.abc import Iterable, Iterator
from typing import NamedTuple

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from penstock.pipeline.parse.pdf.calls import Address, address_of, object_kind, page_object, reference

_THIN = 2.5
_SHORTEST = 4.0
_MOST_POINTS = 20_000
"""A page with more is a drawing; its lines say nothing about tables."""

_DRAWN = (pdfium.FPDF_PAGEOBJ_IMAGE, pdfium.FPDF_PAGEOBJ_FORM, pdfium.FPDF_PAGEOBJ_PATH)

DrawnObject = tuple[Address, int]
"""An object of a page and its kind."""
Matrix = tuple[float, float, float, float, float, float]


class RuledLine(NamedTuple):
    """A straight line as a thin box, in points of the page."""

    left: float
    bottom: float
    right: float
    top: float


def drawn_objects(page: pypdfium2.PdfPage) -> list[DrawnObject]:
    """What is drawn on a page other than text: pictures, paths, and forms, which hold further objects."""
    count = pdfium.FPDFPage_CountObjects(page.raw)
    every = list(map(page_object, itertools.repeat(reference(address_of(page.raw))), range(count)))
    return [(one, kind) for one, kind in zip(every, map(object_kind, every), strict=True) if kind in _DRAWN]


def drawn_rules(drawn: Iterable[DrawnObject]) -> list[RuledLine]:
    """The lines and the edges of boxes on a page; none if there are too many to be a table's."""
    found: list[RuledLine] = []
    points = 0
    for path, matrix in _paths(drawn):
        segments = pdfium.FPDFPath_CountSegments(path)
        points += max(1, segments)
        if points > _MOST_POINTS:
            return []
        if _is_drawn(path):
            found += _edges(path, segments, matrix)
    return found


def _paths(drawn: Iterable[DrawnObject]) -> Iterator[tuple[object, Matrix]]:
    for at, kind in drawn:
        one = ctypes.cast(at, pdfium.FPDF_PAGEOBJECT)
        if kind == pdfium.FPDF_PAGEOBJ_PATH:
            yield one, _matrix(one)
        elif kind == pdfium.FPDF_PAGEOBJ_FORM:
            outer = _matrix(one)
            for inside in range(pdfium.FPDFFormObj_CountObjects(one)):
                part = pdfium.FPDFFormObj_GetObject(one, inside)
                if pdfium.FPDFPageObj_GetType(part) == pdfium.FPDF_PAGEOBJ_PATH:
                    yield part, _times(_matrix(part), outer)


def _is_drawn(path: object) -> bool:
    """Whether it can be seen at all: a clip or an invisible path is not a line."""
    fill, stroke = ctypes.c_int(), ctypes.c_int()
    pdfium.FPDFPath_GetDrawMode(path, fill, stroke)
    return bool(fill.value or stroke.value)


def _edges(path: object, segments: int, matrix: Matrix) -> Iterator[RuledLine]:
    """Straight segments along an axis. A thin filled box is one line: so do word processors draw them."""
    run: list[tuple[float, float]] = []
    for at in range(segments):
        segment = pdfium.FPDFPath_GetPathSegment(path, at)
        kind = pdfium.FPDFPathSegment_GetType(segment)
        x, y = ctypes.c_float(), ctypes.c_float()
        pdfium.FPDFPathSegment_GetPoint(segment, x, y)
        point = _moved(matrix, x.value, y.value)
        if kind == pdfium.FPDF_SEGMENT_MOVETO:
            yield from _straight(run)
            run = [point]
        elif kind == pdfium.FPDF_SEGMENT_LINETO:
            run.append(point)
            if pdfium.FPDFPathSegment_GetClose(segment):
                run.append(run[0])
        else:
            yield from _straight(run)
            run = []
    yield from _straight(run)


def _straight(run: list[tuple[float, float]]) -> Iterator[RuledLine]:
    if len(run) < 2:
        return
    xs, ys = [x for x, _ in run], [y for _, y in run]
    left, right, bottom, top = min(xs), max(xs), min(ys), max(ys)
    if right - left < _THIN or top - bottom < _THIN:
        if max(right - left, top - bottom) >= _SHORTEST:
            yield RuledLine(left, bottom, right, top)
        return
    for (x1, y1), (x2, y2) in itertools.pairwise(run):
        across, up = abs(x1 - x2), abs(y1 - y2)
        if (across < 1 and up >= _SHORTEST) or (up < 1 and across >= _SHORTEST):
            yield RuledLine(min(x1, x2), min(y1, y2), max(x1, x2), max(y1, y2))


def _matrix(one: object) -> Matrix:
    held = pdfium.FS_MATRIX()
    if not pdfium.FPDFPageObj_GetMatrix(one, held):
        return 1, 0, 0, 1, 0, 0
    return held.a, held.b, held.c, held.d, held.e, held.f


def _times(inner: Matrix, outer: Matrix) -> Matrix:
    a, b, c, d, e, f = inner
    x, y = _moved(outer, e, f)
    oa, ob, oc, od, _, _ = outer
    return a * oa + b * oc, a * ob + b * od, c * oa + d * oc, c * ob + d * od, x, y


def _moved(matrix: Matrix, x: float, y: float) -> tuple[float, float]:
    a, b, c, d, e, f = matrix
    return a * x + c * y + e, b * x + d * y + f
