"""Joins the lines of a PDF page to paragraphs: by distance, indentation, size and where a line ends."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from statistics import median
from typing import NamedTuple

from penstock.pipeline.parse.pdf.layout import Flow, Grid
from penstock.pipeline.parse.pdf.lines import MARK, Piece, hyphen_glue, is_divided, is_right_to_left, joiner
from penstock.pipeline.parse.pdf.words import HYPHEN

_FAR = 1.35
"""In usual distances of lines: farther means a new paragraph."""
_SHORT = 0.3
"""A line that leaves this share of its column empty was ended by the author."""
_SENTENCE_END = re.compile(r"[.!?:;…。！？][\"'”’»)\]]*$")  # noqa: RUF001
_LEADERS = ("....", ". . . . ")
_DASH = re.compile(r"\w[–—]$")  # noqa: RUF001  # a dash without a space before it
_FOOTNOTE = re.compile(r"[\d*†‡§¶]")
_BULLET = re.compile(r"[•◦▪‣●○■□➢✓\x7f\uf0b7\uf0a7](?=\s)")


@dataclass(slots=True)
class Paragraph:
    """Text of one kind: a heading is found by its size later, when the whole document is known."""

    text: str
    size: float
    bold: bool
    lines: int = 1
    rows: list[list[str]] | None = None
    open_end: bool = False
    """It may go on in the next column."""
    level: int = 0
    aside: bool = False
    """It runs in another direction than the page's text, so it is not a heading."""


class _Line(NamedTuple):
    text: str
    left: float
    right: float
    middle: float
    size: float
    bold: bool
    divided: bool
    """A wide gap lies inside it."""
    broken: bool
    pieces: Sequence[Piece]

    @property
    def sizes(self) -> set[float]:
        return {word.size for one in self.pieces for word in one.words}

    @property
    def marked(self) -> bool:
        return MARK.fullmatch(self.text.partition(" ")[0]) is not None and " " in self.text


_made_line: Callable[[Iterable[object]], _Line] = partial(tuple.__new__, _Line)


def paragraphs(parts: Iterable[Flow | Grid], usual_size: float) -> list[Paragraph]:
    """The paragraphs of a page in order; footnotes below a column come after the last one."""
    found: list[Paragraph] = []
    footnotes: list[Paragraph] = []
    for part in parts:
        if isinstance(part, Grid):
            found.append(Paragraph("", part.size, bold=False, rows=part.rows))
            continue
        made = _of_flow(part, usual_size)
        notes = _footnotes(made, usual_size)
        footnotes += made[len(made) - notes :]
        made = made[: len(made) - notes]
        if made and found and _goes_on(found[-1], made[0]):
            found[-1] = _joined(found[-1], made.pop(0))
        found += made
    return found + footnotes


def _of_flow(flow: Flow, usual_size: float) -> list[Paragraph]:
    lines = [_line(band) for band in flow.lines]
    usual = _usual_pitch(lines)
    found: list[Paragraph] = []
    held: list[_Line] = []
    for line in lines:
        if held and _starts_anew(held, line, usual, flow.column):
            found.append(_paragraph(held, flow.column, usual_size))
            held = []
        held.append(line)
    if held:
        found.append(_paragraph(held, flow.column, usual_size))
    return found


def _line(band: Sequence[Piece]) -> _Line:
    if len(band) == 1:
        (one,) = band
        text, left, right, middle = one.text, one.left, one.right, one.middle
        return _made_line((text, left, right, middle, one.size, one.bold, False, one.broken, band))
    texts = [one.text for one in band]
    if is_right_to_left("".join(texts)):
        texts.reverse()
    first = max(band, key=lambda one: len(one.words))
    return _Line(
        " ".join(texts),
        band[0].left,
        max(one.right for one in band),
        first.middle,
        first.size,
        all(one.bold for one in band),
        True,
        band[-1].broken,
        band,
    )


def _differs(one: _Line, other: _Line) -> bool:
    """In size or weight; words in small capitals or raised ones do not make a difference."""
    unlike = abs(one.size - other.size) > 0.08 * other.size
    return one.bold != other.bold or (unlike and one.size not in other.sizes and other.size not in one.sizes)


def _usual_pitch(lines: Sequence[_Line]) -> float:
    pitches = [
        one.middle - other.middle
        for one, other in itertools.pairwise(lines)
        if abs(one.size - other.size) < 0.08 * one.size
    ]
    return median(pitches) if len(pitches) > 3 else 1.5 * max((line.size for line in lines), default=12.0)


def _starts_anew(held: Sequence[_Line], line: _Line, usual: float, column: tuple[float, float]) -> bool:
    last = held[-1]
    if _differs(line, last):
        return True
    pitch = last.middle - line.middle
    if pitch > _FAR * max(usual, 1.1 * line.size) or pitch < 0:
        return True
    if line.marked:
        return True
    width = column[1] - column[0]
    if _SENTENCE_END.search(last.text) and last.right < column[1] - 0.15 * width and not last.divided:
        return True
    indent = line.left - last.left
    if indent > 0.8 * line.size:
        return not held[0].marked and len(held) > 1 and _SENTENCE_END.search(last.text) is not None
    if indent < -0.8 * line.size:
        return len(held) > 1 and not is_right_to_left(line.text)
    return False


def _paragraph(lines: Sequence[_Line], column: tuple[float, float], usual_size: float) -> Paragraph:
    large = lines[0].size > 1.12 * usual_size
    parts = [_BULLET.sub("-", lines[0].text, count=1) if _BULLET.match(lines[0].text) else lines[0].text]
    for before, line in itertools.pairwise(lines):
        glue = _glue(before, line, column, large)
        if glue == HYPHEN:
            parts[-1] = parts[-1][:-1]
        parts += [glue, line.text]
    last = lines[-1]
    width = column[1] - column[0]
    return Paragraph(
        "".join(parts),
        max(line.size for line in lines),
        all(line.bold for line in lines),
        len(lines),
        open_end=last.right > column[1] - _SHORT * width and not _SENTENCE_END.search(last.text),
    )


def _glue(before: _Line, line: _Line, column: tuple[float, float], large: bool) -> str:
    """What stands between two lines: a space, a line end, nothing, or a hyphen to be decided on."""
    end, start = before.text[-3:], line.text[0]
    if (glue := hyphen_glue(end, line.text, broken=before.broken)) is not None:
        return glue
    if not end.isascii() and _DASH.search(end) and start.isalnum():
        return ""
    ended = before.right < column[1] - _SHORT * (column[1] - column[0]) and not is_right_to_left(before.text)
    apart = before.divided or line.divided or any(map(before.text.__contains__, _LEADERS))
    if apart or (ended and not large):
        return "\n"
    return joiner(end, start)


def _goes_on(one: Paragraph, other: Paragraph) -> bool:
    return bool(
        one.open_end
        and not other.rows
        and one.lines > 1
        and other.text[:1].islower()
        and abs(one.size - other.size) < 0.5
        and one.bold == other.bold
    )


def _joined(one: Paragraph, other: Paragraph) -> Paragraph:
    if is_divided(one.text):
        text = one.text[:-1] + HYPHEN + other.text
    else:
        text = one.text + joiner(one.text, other.text) + other.text
    return Paragraph(text, one.size, one.bold, one.lines + other.lines, open_end=other.open_end)


def _footnotes(made: Sequence[Paragraph], usual_size: float) -> int:
    """How many paragraphs at the end are footnotes: small, and each starts with its mark."""
    count = 0
    while count < len(made) and _is_note(made[-1 - count], usual_size):
        count += 1
    return count


def _is_note(one: Paragraph, usual_size: float) -> bool:
    return not one.rows and one.size < 0.93 * usual_size and _FOOTNOTE.match(one.text) is not None
