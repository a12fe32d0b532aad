"""Joins the words of a PDF page to pieces of lines: words on one baseline without a wide gap between them."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from operator import itemgetter, sub

from penstock.pipeline.parse.pdf.hyphens import starts_with_conjunction
from penstock.pipeline.parse.pdf.words import HYPHEN, Word, size_of

WIDE_GAP = 0.9
"""In font sizes: what separates columns and cells. Spaces in justified text are narrower."""
MARK = re.compile(
    r"[•◦▪‣●○■□➢✓–*\x7f\uf0b7\uf0a7-]|\d{1,3}[.)]|[a-zA-Z][.)]|\([a-zA-Z0-9]{1,3}\)|\[\d{1,3}\]"  # noqa: RUF001
)
"""What stands before a list's item, in all programs' ways."""
NUMBER = re.compile(r"\W*\d[\d\W]*%?\W*|[-–—]|n/?a", re.I)  # noqa: RUF001  # dashes stand for no figure
_SAME_LINE = 0.45
_RIGHT_TO_LEFT = re.compile(r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufeff]")
_LETTER = re.compile(r"[^\W\d_]")
_DENSE = re.compile(r"[\u2e80-\u9fff\uf900-\ufaff\uff00-\uffef]")
"""Scripts that are written without spaces."""
_DIVIDED = re.compile(r"[^\W\d_]{2}[-\u2010\u00ad]$")
_HYPHENS = ("-", "\u2010", "\u00ad")
_FROM_LEFT = itemgetter(Word._fields.index("left"), Word._fields.index("place"))


@dataclass(slots=True)
class Piece:
    """Words on one line up to a wide gap."""

    words: list[Word]
    left: float
    bottom: float
    right: float
    top: float
    size: float
    rows: list[list[str]] | None = None
    """A ruled table stands among the lines as one piece without words."""
    bold: bool = False
    _text: str | None = field(default=None, repr=False, compare=False)

    @property
    def reach(self) -> float:
        """How far above and below its middle it counts as beside others; less than its height for a line."""
        return (self.top - self.bottom) * (0.5 if self.rows else 0.25)

    @property
    def middle(self) -> float:
        return (self.top + self.bottom) / 2

    @property
    def place(self) -> int:
        return min((word.place for word in self.words), default=0)

    @property
    def text(self) -> str:
        if self._text is None:
            self._text = line_text(self.words)
        return self._text

    @property
    def broken(self) -> bool:
        return bool(self.words) and self.words[-1].broken


def pieces(words: Iterable[Word]) -> list[Piece]:
    """The pieces of lines, from the top, those of one line from the left."""
    return pieces_of(rows(words))


def pieces_of(found: Iterable[list[Word]]) -> list[Piece]:
    """The pieces of these rows of words."""
    made: list[Piece] = []
    for row in found:
        if (whole := _whole(row)) is not None:
            made.append(whole)
            continue
        start = 0
        before = row[0]
        for at, word in enumerate(row):
            gap = word.left - before.right
            wide = gap > WIDE_GAP * word.size and gap > WIDE_GAP * before.size
            if wide and (at - start != 1 or not _is_marked(before, word)):
                made.append(piece(row[start:at]))
                start = at
            before = word
        made.append(piece(row[start:] if start else row))
    return made


def _whole(row: list[Word]) -> Piece | None:
    """The row as one piece, unless a gap in it may be wide; without a step of Python for each word."""
    if len(row) == 1:
        return piece(row)
    lefts, bottoms, rights, tops, texts, sizes, bolds, *_ = zip(*row, strict=True)
    if max(map(sub, lefts[1:], rights)) > WIDE_GAP * min(sizes):
        return None
    size = sizes[0] if sizes.count(sizes[0]) == len(sizes) else main_size(row)
    said = " ".join(texts)
    text = said if said.isascii() else None  # the order of other scripts is not always that of the words
    edges = min(lefts), min(bottoms), max(rights), max(tops)
    return Piece(row, *edges, size, None, False not in bolds, text)


def rows(words: Iterable[Word]) -> list[list[Word]]:
    """Words by baseline, from the top, each row from the left."""
    kept = words if isinstance(words, list) else list(words)
    if len(kept) < 2:
        return [kept[:]] if kept else []
    _, bottoms, _, tops, _, sizes, *_ = zip(*kept, strict=True)
    middles = [(top + bottom) / 2 for top, bottom in zip(tops, bottoms, strict=True)]
    order = sorted(range(len(kept)), key=middles.__getitem__, reverse=True)
    anchor = order[0]  # the largest word of the row: a raised or lowered one is smaller
    middle, bottom, top, size = middles[anchor], bottoms[anchor], tops[anchor], sizes[anchor]
    row: list[Word] = []
    found = [row]
    for at in order:
        if bottoms[at] == bottom and tops[at] == top:
            row.append(kept[at])  # nearly always
        elif middle - middles[at] < _SAME_LINE * min(_tall(kept[anchor]), 2 * _tall(kept[at])):
            row.append(kept[at])
        else:
            row = [kept[at]]
            found.append(row)
            anchor, middle, bottom, top, size = at, middles[at], bottoms[at], tops[at], sizes[at]
            continue
        if sizes[at] > size:
            anchor, middle, bottom, top, size = at, middles[at], bottoms[at], tops[at], sizes[at]
    for row in found:
        row.sort(key=_FROM_LEFT)
    return found


def piece(words: list[Word]) -> Piece:
    if len(words) == 1:
        left, bottom, right, top, _, size, bold, *_ = words[0]
        return Piece(words, left, bottom, right, top, size, bold=bold)
    return Piece(
        words,
        min([word.left for word in words]),
        min([word.bottom for word in words]),
        max([word.right for word in words]),
        max([word.top for word in words]),
        main_size(words),
        bold=False not in [word.bold for word in words],
    )


def main_size(words: Sequence[Word]) -> float:
    """The font size of most characters."""
    sizes = list(map(size_of, words))
    if sizes and sizes.count(sizes[0]) == len(sizes):
        return sizes[0]
    counts = Counter(sizes)
    usual = max(counts, key=counts.__getitem__)
    lengths = dict.fromkeys(counts, 0)
    for word in words:
        if word.size != usual:
            lengths[word.size] += len(word.text)
    lengths[usual] = sum([len(word.text) for word in words]) - sum(lengths.values())
    return max(lengths, key=lambda size: (lengths[size], size))


def line_text(words: Sequence[Word]) -> str:
    """The words in the order of reading; a line of a right-to-left script starts at the right."""
    whole = " ".join([word.text for word in words])
    if whole.isascii():
        return whole
    if is_right_to_left(whole):
        return " ".join([word.text for word in from_the_right(words)])
    if _DENSE.search(whole):
        return _without_spaces(words)
    return whole


def joiner(before: str, after: str) -> str:
    """What stands between two lines of a paragraph: nothing in scripts without spaces."""
    if before[-1:].isascii():
        return " "
    return "" if _DENSE.match(before[-1:]) and _DENSE.match(after[:1]) else " "


def hyphen_glue(before: str, after: str, *, broken: bool = False) -> str | None:
    """What replaces a hyphen at a line's end and the space after it; None if no word is divided there.

    The mark for a hyphen to be decided on takes the place of the hyphen. `broken`: pdfium says it is one.
    """
    end, start = before[-3:], after[:1]
    if broken or (end[-1:] in _HYPHENS and _DIVIDED.search(end)):
        if start.islower() and end[-1:] in _HYPHENS:
            return HYPHEN
        if end[-1:] in ("-", "\u2010") and start.isalnum():
            return " " if starts_with_conjunction(after) else ""
    return None


def with_line(before: str, after: str, *, broken: bool = False) -> str:
    """A cell's text with its next line."""
    if not before:
        return after
    glue = hyphen_glue(before, after, broken=broken)
    if glue == HYPHEN:
        return before[:-1] + HYPHEN + after
    return before + (joiner(before, after) if glue is None else glue) + after


def is_divided(text: str) -> bool:
    """Whether it ends with a hyphen after letters."""
    return _DIVIDED.search(text[-3:]) is not None


def is_dense(text: str) -> bool:
    return not text.isascii() and _DENSE.search(text) is not None


def is_right_to_left(text: str) -> bool:
    if text.isascii():
        return False
    found = len(_RIGHT_TO_LEFT.findall(text))
    return found > 0 and found * 2 > len(_LETTER.findall(text))


def _is_marked(mark: Word, word: Word) -> bool:
    """Whether it is a list item's mark before the word."""
    return bool(MARK.fullmatch(mark.text)) and word.left - mark.right < 4 * word.size


def _tall(word: Word) -> float:
    return max(word.top - word.bottom, word.size, 1.0)


def from_the_right(words: Sequence[Word]) -> list[Word]:
    """Words from the right; runs of numbers and of left-to-right words keep their order."""
    ordered: list[Word] = []
    run: list[Word] = []
    for word in reversed(words):
        if _RIGHT_TO_LEFT.search(word.text) or not any(map(_has_direction, word.text)):
            ordered += reversed(run)
            run = []
            ordered.append(word)
        else:
            run.append(word)
    return ordered + run[::-1]


def _has_direction(character: str) -> bool:
    return unicodedata.bidirectional(character) in ("L", "EN")


def _without_spaces(words: Sequence[Word]) -> str:
    said = words[0].text
    for before, word in itertools.pairwise(words):
        gap = word.left - before.right > 0.3 * word.size
        said += (" " if gap or joiner(said, word.text) != "" else "") + word.text
    return said
