"""Draws lines and columns of text on a page, line by line or word by word."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from reportlab.lib.pagesizes import A4  # type: ignore[import-untyped]  # it ships no types
from reportlab.lib.utils import simpleSplit  # type: ignore[import-untyped]

if TYPE_CHECKING:
    from reportlab.pdfgen.canvas import Canvas  # type: ignore[import-untyped]

WIDTH, HEIGHT = A4
TOP = HEIGHT - 72


def column(
    page: Canvas, x: float, y: float, width: float, paragraphs: Sequence[str], headings: Sequence[str]
) -> None:
    """Paragraphs with a heading before the first and before the middle one."""
    half = len(paragraphs) // len(headings)
    for number, heading in enumerate(headings):
        page.setFont("Times-Bold", 12)
        page.drawString(x, y - 4, heading)
        page.setFont("Times-Roman", 10)
        y = drawn_lines(page, x, y - 22, width, paragraphs[half * number : half * (number + 1)]) - 6


def drawn_lines(
    page: Canvas, x: float, y: float, width: float, paragraphs: Sequence[str], *, size: float = 10
) -> float:
    """Draw paragraphs line by line in the font that is set; returns where the next line would go."""
    font = page._fontname
    for paragraph in paragraphs:
        for line in simpleSplit(paragraph, font, size, width):
            page.drawString(x, y, line)
            y -= 1.2 * size
        y -= 0.6 * size
    return y


def by_word(page: Canvas, x: float, y: float, line: str, font: str = "Times-Roman", size: float = 10) -> None:
    for word in line.split():
        page.drawString(x, y, word)
        x += page.stringWidth(word + " ", font, size)


def wrapped(paragraphs: Sequence[str], width: float, font: str, size: float) -> list[str]:
    return [line for paragraph in paragraphs for line in simpleSplit(paragraph, font, size, width)]
