"""The words of a PDF page as pdfium places them: position, size, weight and direction of each."""

from __future__ import annotations

import ctypes
import itertools
import math
import re
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from operator import itemgetter
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pypdfium2.raw as pdfium  # type: ignore[import-untyped]

from penstock.pipeline.parse.pdf.calls import (
    Address,
    Reference,
    address_of,
    character,
    font_of,
    font_size,
    loose_box,
    reference,
    text_matrix,
    text_object,
)

if TYPE_CHECKING:
    from numpy.typing import NDArray

HYPHEN = "\x02"
"""Marks a hyphen at a line's end: whether it belongs to the word is decided with the whole document."""
_BROKEN = ("\x02", "\ufffe")
"""What pdfium writes for a hyphen at a line's end."""
_TOKEN = re.compile(r"([^\s\x00\x02\ufffe\uffff]+[\x02\ufffe]?)")
_LEFT_OUT = ("\x00", *_BROKEN, "\uffff")
_WITHOUT_SPACES = re.compile(r"(\S+)")
"""The same, and faster, in a text that has nothing to leave out."""
_BOLD = re.compile(rb"bold|black|heavy|semib|demi", re.I)
_BOLD_WEIGHT = 600
AFTER_ALL = 1 << 30
"""The place of the first word that the page itself does not draw, such as a form field's."""
_ASKEW = -1
_UNPLACED = 12.0
_BOX_BYTES = 16
"""Four floats of pdfium."""
_MOST_BOXES = 1_024
"""How many boxes are read at once: more than a page usually has words."""


class Word(NamedTuple):
    """A word in points from the lower left of a page that is turned so that its text is upright."""

    left: float
    bottom: float
    right: float
    top: float
    text: str
    size: float
    bold: bool
    place: int
    """Its position in the order in which the page draws its words."""
    broken: bool = False
    """It ends with a hyphen that pdfium took for a line's end."""

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2


size_of: Callable[[Word], float] = itemgetter(Word._fields.index("size"))
place_of: Callable[[Word], int] = itemgetter(Word._fields.index("place"))
"""The same as the attributes, for `map`: in half the time."""
_word: Callable[[Iterable[object]], Word] = partial(tuple.__new__, Word)
"""A word from all its fields: without a step of Python, unlike `Word._make`."""


class _Style(NamedTuple):
    size: float
    bold: bool
    turn: int


def placed_words(page: pypdfium2.PdfTextPage, text: str) -> dict[int, list[Word]]:
    """The words by direction: 0 is upright, each further one a quarter turn to the left, -1 is askew.

    `text` is pdfium's text of the page. All is read by column: what every word says, then where each starts,
    and so on, since a step of Python for every word takes longer than pdfium does.
    """
    raw, count = reference(address_of(page.raw)), page.count_chars()
    if len(text) != count:
        text = "".join(_characters(raw, count))
    said, firsts, ends = _tokens(text)
    broken = [False] * len(said)
    if any(map(text.__contains__, _BROKEN)):
        broken = [token[-1] in _BROKEN for token in said]
    lasts = [end - 1 for end in ends]
    for at in itertools.compress(range(len(said)), broken):
        lasts[at] = max(firsts[at], lasts[at] - 1)
        said[at] = said[at][:-1] + "-"
    if not said:
        return {}
    sizes, bolds, turns = zip(*_styles(raw, firsts), strict=True)
    edges = _edges(raw, firsts, lasts)
    words = list(map(_word, zip(*edges, said, sizes, bolds, range(len(said)), broken, strict=True)))
    if not any(turns):
        return {0: words}
    found: dict[int, list[Word]] = {}
    for word, turn in zip(words, turns, strict=True):
        if turn > 0:
            left, bottom, right, top = _turned(turn, *word[:4])
            word = word._replace(left=left, bottom=bottom, right=right, top=top)
        found.setdefault(turn, []).append(word)
    return found


def turned_line(turn: int, left: float, bottom: float, right: float, top: float) -> tuple[float, ...]:
    """A box of the page in the coordinates of words of this direction."""
    return _turned(turn, left, bottom, right, top) if turn > 0 else (left, bottom, right, top)


def _characters(page: Reference, count: int) -> Iterator[str]:
    """One per position: pdfium's text leaves some characters out, and then positions differ."""
    for code in map(character, itertools.repeat(page), range(count)):
        yield chr(code) if 0 < code < 0x110000 and not 0xD800 <= code < 0xE000 else "\x00"


def _tokens(text: str) -> tuple[list[str], list[int], list[int]]:
    """The words, where each starts, and where it ends."""
    parts = (_TOKEN if any(map(text.__contains__, _LEFT_OUT)) else _WITHOUT_SPACES).split(text)
    ends = list(itertools.accumulate(map(len, parts)))
    return parts[1::2], ends[:-1:2], ends[1::2]


class _Boxes(threading.local):
    """Where pdfium writes the boxes of characters, with a reference to the place of each."""

    def __init__(self) -> None:
        self._held = np.zeros((_MOST_BOXES, 4), dtype=np.float32)
        start = self._held.ctypes.data
        self._places = [reference(at) for at in range(start, start + self._held.nbytes, _BOX_BYTES)]

    def read(self, page: Reference, indexes: Sequence[int]) -> NDArray[np.float32]:
        """Left, top, right and bottom of each of these characters."""
        found = []
        for start in range(0, len(indexes), _MOST_BOXES):
            some = indexes[start : start + _MOST_BOXES]
            self._held[: len(some)] = 0.0
            deque(map(loose_box, itertools.repeat(page), some, self._places), maxlen=0)
            found.append(self._held[: len(some)].copy())
        return found[0] if len(found) == 1 else np.concatenate(found)


_BOXES = _Boxes()


def _edges(page: Reference, firsts: Sequence[int], lasts: Sequence[int]) -> list[list[float]]:
    """The left, bottom, right and top edges of the words: around the first and the last character of each."""
    boxes, others = _BOXES.read(page, firsts), _BOXES.read(page, lasts)
    lows, highs = np.minimum(boxes, others), np.maximum(boxes, others)
    return [
        np.minimum(lows[:, 0], lows[:, 2]).tolist(),
        np.minimum(lows[:, 1], lows[:, 3]).tolist(),
        np.maximum(highs[:, 0], highs[:, 2]).tolist(),
        np.maximum(highs[:, 1], highs[:, 3]).tolist(),
    ]


def _styles(page: Reference, firsts: Sequence[int]) -> list[_Style]:
    """Size, weight and direction of the characters at these positions.

    They are read once for each object that draws some; weights once for each font.
    """
    drawn = list(map(text_object, itertools.repeat(page), firsts))
    matrix = pdfium.FS_MATRIX()
    matrix_at = ctypes.byref(matrix)
    shapes: dict[tuple[float, ...], tuple[float, int]] = {}
    weights: dict[Address | None, bool] = {0: False, None: False}

    def style(at: int, key: Address | None) -> _Style:
        shape: tuple[float, ...] = (font_size(page, at),)
        if text_matrix(page, at, matrix_at):
            shape = (*shape, matrix.a, matrix.b, matrix.c, matrix.d)
        if shape not in shapes:
            shapes[shape] = _shape(*shape)
        font = font_of(key) if key else 0
        if font not in weights:
            weights[font] = _is_bold(ctypes.cast(font, pdfium.FPDF_FONT))
        size, turn = shapes[shape]
        return _Style(size, weights[font], turn)

    first_of = dict(zip(reversed(drawn), reversed(firsts), strict=True))
    known = {key: style(at, key) for key, at in first_of.items() if key}
    if len(known) == len(first_of):
        return list(map(known.__getitem__, drawn))
    return [known[key] if key else style(at, key) for at, key in zip(firsts, drawn, strict=True)]


def _shape(size: float, a: float = 1.0, b: float = 0.0, c: float = 0.0, d: float = 1.0) -> tuple[float, int]:
    """The size that is seen, and the direction, of text with this font size and matrix."""
    return round(abs(size * math.hypot(c, d)), 1) or _UNPLACED, _turn(a, b)


def _turn(across: float, up: float) -> int:
    quarters = math.atan2(up, across) / (math.pi / 2)
    nearest = round(quarters)
    return nearest % 4 if abs(quarters - nearest) < 0.06 else _ASKEW


def _is_bold(font: object) -> bool:
    name = ctypes.create_string_buffer(256)
    pdfium.FPDFFont_GetBaseFontName(font, name, 256)
    return bool(_BOLD.search(name.value)) or pdfium.FPDFFont_GetWeight(font) >= _BOLD_WEIGHT


def _turned(turn: int, left: float, bottom: float, right: float, top: float) -> tuple[float, ...]:
    match turn:
        case 1:
            return bottom, -right, top, -left
        case 2:
            return -right, -top, -left, -bottom
        case _:
            return -top, left, -bottom, right
