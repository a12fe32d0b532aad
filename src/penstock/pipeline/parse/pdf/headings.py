"""Tells which paragraphs of a PDF are headings, and of which level: by size, weight, number and outline."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

import pypdfium2  # type: ignore[import-untyped]  # it ships no types

from penstock.pipeline.parse.pdf.paragraphs import Paragraph

_LARGER = 1.12
_LONGEST = 200
_LONGEST_BOLD = 120
_MOST_LINES = 4
_MOST_BOOKMARKS = 5_000
_DEEPEST = 6
_NUMBERED = re.compile(r"(\d{1,3}(?:\.\d{1,3}){0,5})\.?\s+\S|([A-Z](?:\.\d{1,3}){1,5})\.?\s+\S")
_WORD = re.compile(r"\w+")
_LETTERS = re.compile(r"[^\W\d_]{2}")
_UNLIKE = re.compile(r"[,;]$|\.{3}|^[-–•]\s")  # noqa: RUF001  # dashes and bullets start an item

Outline = dict[str, int]
"""The level of each bookmark by its words."""


def outline_of(document: pypdfium2.PdfDocument) -> Outline:
    """The bookmarks; the first level is 1. A damaged outline counts as none."""
    found: Outline = {}
    try:
        for number, entry in enumerate(document.get_toc(max_depth=_DEEPEST)):
            if number >= _MOST_BOOKMARKS:
                break
            if key := plain(entry.get_title() or ""):
                found.setdefault(key, entry.level + 1)
    except (pypdfium2.PdfiumError, UnicodeError, ValueError):
        return {}
    return found


def plain(text: str) -> str:
    return " ".join(_WORD.findall(text.casefold()))


def usual_style(pages: Iterable[Sequence[Paragraph]]) -> tuple[float, bool]:
    """Size and weight of most of the text."""
    lengths: Counter[tuple[float, bool]] = Counter()
    for page in pages:
        for one in page:
            said = sum(len(cell) for row in one.rows for cell in row) if one.rows else len(one.text)
            lengths[round(one.size * 2) / 2, one.bold] += said
    return lengths.most_common(1)[0][0] if lengths else (0.0, False)


def set_levels(pages: Sequence[Sequence[Paragraph]], outline: Mapping[str, int]) -> None:
    """Give headings their level."""
    size, bold = usual_style(pages)
    if not size:
        return
    found = [
        one
        for page in pages
        for one in page
        if not (one.rows or one.aside)
        and (_looks_like_heading(one, size, bold) or _is_bookmark(one, outline))
    ]
    by_style: dict[tuple[float, bool], list[Paragraph]] = defaultdict(list)
    for one in found:
        by_style[_style(one, size)].append(one)
    levels = _style_levels(by_style, outline)
    shift = _shift(found, outline)
    for style, headings in by_style.items():
        depths = [depth for one in headings if (depth := _depth(one))]
        for one in headings:
            level = outline.get(plain(one.text))
            if level is not None:
                level += shift
            elif shift and one is found[0]:
                level = 1
            else:
                level = levels[style]
                if depth := _depth(one):
                    level += depth - min(depths)
            one.level = max(1, min(_DEEPEST, level))


def _looks_like_heading(one: Paragraph, size: float, bold: bool) -> bool:
    if one.lines > _MOST_LINES or len(one.text) > _LONGEST or "\n" in one.text:
        return False
    if not _LETTERS.search(one.text) or _UNLIKE.search(one.text):
        return False
    if one.size >= _LARGER * size:
        return True
    if bold or not one.bold or one.size < 0.95 * size or len(one.text) > _LONGEST_BOLD:
        return False
    return one.text[-1] not in ".:" or _NUMBERED.match(one.text) is not None


def _is_bookmark(one: Paragraph, outline: Mapping[str, int]) -> bool:
    return bool(outline) and one.lines <= _MOST_LINES and plain(one.text) in outline


def _style(one: Paragraph, size: float) -> tuple[float, bool]:
    """Styles that nobody can tell apart are one: sizes by half points, weight only at the usual size."""
    rounded = round(one.size * 2) / 2
    return (rounded, False) if rounded >= _LARGER * size else (0.0, one.bold)


def _style_levels(
    by_style: Mapping[tuple[float, bool], Sequence[Paragraph]], outline: Mapping[str, int]
) -> dict[tuple[float, bool], int]:
    """Larger is higher; bookmarks of a style say which level it has."""
    levels: dict[tuple[float, bool], int] = {}
    level = 0
    for style in sorted(by_style, reverse=True):
        said = Counter(outline[key] for one in by_style[style] if (key := plain(one.text)) in outline)
        level = max(level + 1, said.most_common(1)[0][0]) if said else level + 1
        levels[style] = level
    return levels


def _shift(found: Sequence[Paragraph], outline: Mapping[str, int]) -> int:
    """How many levels of headings stand above the outline's first level: a title, mostly."""
    marked = [one for one in found if outline.get(plain(one.text)) == 1]
    if not marked:
        return 0
    top = max(one.size for one in marked)
    larger = {round(one.size * 2) / 2 for one in found if one.size > 1.05 * top}
    return len(larger) or int(plain(found[0].text) not in outline and found[0].size >= top)


def _depth(one: Paragraph) -> int:
    """How deep its number is: 2 for `3.1`, 0 without a number."""
    found = _NUMBERED.match(one.text)
    return (found[1] or found[2]).count(".") + 1 if found else 0
