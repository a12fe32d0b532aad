"""Pages of text, columns and tables, drawn by reportlab and rendered by pdfium as pictures."""

from __future__ import annotations

import contextlib
import io
import random
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import reportlab  # type: ignore[import-untyped]  # it ships no types
from reportlab.lib.utils import ImageReader  # type: ignore[import-untyped]
from reportlab.pdfbase import pdfmetrics  # type: ignore[import-untyped]
from reportlab.pdfbase.ttfonts import TTFont  # type: ignore[import-untyped]
from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

from bench.reading.truth import words

if TYPE_CHECKING:
    from PIL import Image

SIZE = (420.0, 595.0)
"""A5, in points."""
DOTS_PER_INCH = 160
_FONT = "Vera"

_SUBJECTS = (
    "The harbour office", "A second inspector", "Every licensed pilot", "The bridge keeper", "Our laboratory",
    "The northern depot", "A retired engineer", "The council", "Each contractor", "The insurance company",
)  # fmt: skip
_VERBS = (
    "recorded", "postponed", "approved", "measured", "questioned", "repaired", "described", "delivered",
    "cancelled", "compared",
)  # fmt: skip
_OBJECTS = (
    "the annual survey of the eastern wall", "a shipment of copper cable", "the broken pump in basin four",
    "several samples of drinking water", "the budget for winter maintenance", "new lamps along the towpath",
    "an agreement about night shifts", "the depth of the channel near the weir",
    "eleven crates of spare valves", "the complaint about noise and dust",
)  # fmt: skip
_TIMES = (
    "in January", "before the flood", "during the strike", "on a Thursday morning", "after long discussion",
    "without delay", "for the third time", "at the request of the owner", "despite heavy rain", "last autumn",
)  # fmt: skip
_ITEMS = ("Rope", "Anchor", "Lantern", "Varnish", "Compass", "Pulley", "Canvas", "Ladder")


@dataclass(frozen=True, slots=True)
class Line:
    """Words at a position, in points from the upper left."""

    left: float
    down: float
    text: str
    size: float = 10.5


@dataclass(frozen=True, slots=True)
class Page:
    lines: tuple[Line, ...]
    text: str
    order: tuple[str, ...] = ()
    tables: tuple[tuple[tuple[str, ...], ...], ...] = ()
    rules: tuple[tuple[float, float, float, float], ...] = ()


def prose(seed: int) -> Page:
    lines, down = [Line(50, 60, f"Report number {4_100 + seed}", 16)], 95.0
    for text in _wrapped(_sentences(seed, 9), 320):
        lines.append(Line(50, down, text))
        down += 16
    return _page(lines)


def few_words(seed: int) -> Page:
    """A page that is nearly empty: there is little to tell which side is up."""
    return _page(
        [Line(60, 90 + 22 * at, text, 14) for at, text in enumerate(_wrapped(_sentences(seed, 1), 240))]
    )


def two_columns(seed: int) -> Page:
    lines = []
    for left, part in ((40.0, 0), (225.0, 1)):
        down = 60.0
        for text in _wrapped(_sentences(seed * 2 + part, 7), 155):
            lines.append(Line(left, down, text, 9.5))
            down += 15
    return _page(lines)


def open_table(seed: int) -> Page:
    return _table(seed, ruled=False)


def ruled_table(seed: int) -> Page:
    return _table(seed, ruled=True)


def _table(seed: int, *, ruled: bool) -> Page:
    chance = random.Random(seed)
    rows = [("Article", "Pieces", "Price", "Total")]
    for item in _ITEMS:
        pieces, price = chance.randint(2, 90), chance.randint(101, 9_999)
        rows.append((item, str(pieces), f"{price / 100:.2f}", f"{pieces * price / 100:.2f}"))
    lefts = (50.0, 150.0, 230.0, 310.0)
    lines = [Line(50, 60 + 16 * at, text) for at, text in enumerate(_wrapped(_sentences(seed, 1), 320))]
    top, step = 130.0, 22.0
    for at, row in enumerate(rows):
        lines += [Line(left + 4, top + at * step, cell) for left, cell in zip(lefts, row, strict=True)]
    down = top + len(rows) * step + 20
    for text in _wrapped(_sentences(seed + 50, 3), 320):
        lines.append(Line(50, down, text))
        down += 16
    rules: list[tuple[float, float, float, float]] = []
    if ruled:
        edges = [top - 15 + at * step for at in range(len(rows) + 1)]
        rules += [(lefts[0], edge, 380.0, edge) for edge in edges]
        rules += [(left, edges[0], left, edges[-1]) for left in (*lefts, 380.0)]
    return Page(tuple(lines), "\n".join(line.text for line in lines), (), (tuple(rows),), tuple(rules))


def drawn(page: Page, dots_per_inch: int = DOTS_PER_INCH) -> Image.Image:
    """The page as a grey picture."""
    document = pypdfium2.PdfDocument(pdf_of([page], [None]))
    with contextlib.closing(document), contextlib.closing(document[0]) as sheet:
        with contextlib.closing(sheet.render(scale=dots_per_inch / 72, grayscale=True)) as bitmap:
            image: Image.Image = bitmap.to_pil().copy()
    return image


def pdf_of(
    made: Sequence[Page], images: Sequence[Image.Image | None], *, stamp: str = "", hidden: str = ""
) -> bytes:
    """A page of text for each page without an image, and a scan for each with one."""
    if _FONT not in pdfmetrics.getRegisteredFontNames():
        pdfmetrics.registerFont(TTFont(_FONT, Path(reportlab.__file__).parent / "fonts" / "Vera.ttf"))
    out = io.BytesIO()
    canvas = Canvas(out, pagesize=SIZE, invariant=True)
    for page, image in zip(made, images, strict=True):
        if image is None:
            _draw(canvas, page)
        else:
            canvas.drawImage(ImageReader(image), 0, 0, *SIZE)
            _hide(canvas, hidden)
            canvas.setFont("Helvetica", 9)
            canvas.drawString(300, 20, stamp)
        canvas.showPage()
    canvas.save()
    return out.getvalue()


def _draw(canvas: Canvas, page: Page) -> None:
    for line in page.lines:
        canvas.setFont(_FONT, line.size)
        canvas.drawString(line.left, SIZE[1] - line.down, line.text)
    canvas.setLineWidth(0.7)
    for left, top, right, bottom in page.rules:
        canvas.line(left, SIZE[1] - top, right, SIZE[1] - bottom)


def _hide(canvas: Canvas, hidden: str) -> None:
    """Invisible text, as programs that recognize text lay over the picture."""
    text = canvas.beginText(50, SIZE[1] - 95)
    text.setFont("Helvetica", 9)
    text.setTextRenderMode(3)
    for start in range(0, len(hidden), 60):
        text.textLine(hidden[start : start + 60])
    canvas.drawText(text)


def _sentences(seed: int, count: int) -> str:
    chance = random.Random(seed)
    parts = [chance.sample(each, min(count, len(each))) for each in (_SUBJECTS, _VERBS, _OBJECTS, _TIMES)]
    return " ".join(" ".join(one) + "." for one in zip(*parts, strict=True))


def _wrapped(text: str, width: float) -> list[str]:
    """Lines of at most this many points, at about 5.6 points for each character."""
    lines = [""]
    for word in text.split():
        if len(lines[-1]) + len(word) > width / 5.6:
            lines.append("")
        lines[-1] = f"{lines[-1]} {word}".strip()
    return lines


def _page(lines: list[Line]) -> Page:
    """The order is that of lines which occur once."""
    text = "\n".join(line.text for line in lines)
    said = " ".join(words(text))
    once = (line.text for line in lines if said.count(" ".join(words(line.text))) == 1)
    return Page(tuple(lines), text, tuple(once))
