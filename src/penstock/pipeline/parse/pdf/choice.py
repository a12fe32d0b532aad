"""Chooses among the readings of a PDF page by what can be measured, and says why."""

from __future__ import annotations

import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from penstock.pipeline.parse.pdf.characters import character_counts
from penstock.pipeline.parse.pdf.signs import PageSigns

Reading = Literal["layout", "pdfium", "xberg", "ocr", "empty", "damaged"]
"""Where the text of a page is from; the last two have none."""

_WORD = re.compile(r"\w+")
_UNREADABLE = re.compile(r"[\ufffd\ue000-\uf8ff\x00-\x08\x0e-\x1f]")
_MUCH_UNREADABLE = 0.2
_MANY_MORE = 2.0
"""xberg is believed if it finds this many times the words that pdfium finds."""
_FEWEST_MORE = 20
_FEW_LOST = 0.05
"""The share of pdfium's words that xberg may write otherwise, such as those divided at a line's end."""
_MUCH_BEHIND = 0.1
_FEW_BEHIND = 3
"""As a share and as a number: how many neighbours or rows pdfium's order may keep that the layout does not.

Not none: what is measured are guesses about what belongs together, as wrong in places as any layout.
"""
_MAY_BE_LOST = frozenset("\\-\u2010\u2011\u00ad•◦▪‣●○■□➢✓")
"""Hyphens at a line's end, bullets that become Markdown's, and the backslash that escapes its signs."""
LONGEST_SUMMARY = 1_500


@dataclass(frozen=True, slots=True)
class PageChoice:
    """The text taken for a page, whose it is, and why: what the layout found, or why it was not taken."""

    text: str
    reading: Reading
    why: str = ""


def choose(
    *,
    plain: str,
    layout: str,
    signs: PageSigns = PageSigns(),  # noqa: B008  # frozen
    dropped: str = "",
    fields: str = "",
    xberg: str | None = None,
) -> PageChoice:
    """Our layout, unless it loses characters, words, their order or rows of a table, or only xberg has them.

    `dropped` are words left out on purpose: headers and footers that an earlier page has. `fields` are the
    values of form fields, which only the layout has: their letters must not stand in for lost ones.
    """
    if xberg is not None:
        found, got = len(_WORD.findall(plain)), len(_WORD.findall(xberg))
        more = got > _MANY_MORE * found and got - found >= _FEWEST_MORE
        if more and lost_words(plain, xberg) <= _FEW_LOST * found:
            return PageChoice(xberg, "xberg", f"pdfium finds {found} words and xberg {got}")
        if got and unreadable(plain) > _MUCH_UNREADABLE > unreadable(xberg):
            return PageChoice(xberg, "xberg", "pdfium cannot decode its characters")
    lost = _lost(plain + fields, layout + dropped)
    for counts, kind in ((_letters(lost), "letter"), (_other_signs(lost), "sign"), (signs.missing, "word")):
        if counts:
            return PageChoice(plain, "pdfium", f"{_counted(counts, kind)} missing from the layout")
    if _is_behind(signs.order, signs.plain_order, signs.pairs_behind):
        ours, theirs = _shares(signs.order, signs.plain_order)
        why = f"it keeps {theirs} of neighbouring words together, and the layout {ours}"
        return PageChoice(plain, "pdfium", why)
    if _is_behind(signs.rows, signs.plain_rows, signs.rows_behind):
        ours, theirs = _shares(signs.rows, signs.plain_rows)
        why = f"it keeps {theirs} of the lines of tables whole, and the layout {ours}"
        return PageChoice(plain, "pdfium", why)
    return PageChoice(layout, "layout", signs.described())


def _is_behind(ours: float, theirs: float, number: int) -> bool:
    """Whether pdfium's order keeps more than the layout, and not only by a little."""
    return theirs > ours and (theirs - ours > _MUCH_BEHIND or number > _FEW_BEHIND)


def _shares(ours: float, theirs: float) -> tuple[str, str]:
    """In per cent, with as many digits as it takes to tell them apart."""
    digits = next((digits for digits in range(4) if f"{ours:.{digits}%}" != f"{theirs:.{digits}%}"), 4)
    return f"{ours:.{digits}%}", f"{theirs:.{digits}%}"


def _counted(count: int, name: str) -> str:
    return f"{count} {name} was" if count == 1 else f"{count} {name}s were"


def needs_other(plain: str) -> bool:
    """Whether so much of pdfium's text is unreadable that another library should be asked."""
    return unreadable(plain) > _MUCH_UNREADABLE


def lost_letters(plain: str, text: str) -> int:
    """How many letters and digits of the one are not in the other."""
    return _letters(_lost(plain, text))


def _lost(plain: str, text: str) -> dict[str, int]:
    """The characters of the one that are not in the other."""
    wanted, got = character_counts(plain), character_counts(text)
    return {one: count - got.get(one, 0) for one, count in wanted.items() if count > got.get(one, 0)}


def _letters(lost: Mapping[str, int]) -> int:
    return sum(count for one, count in lost.items() if one.isalnum())


def _other_signs(lost: Mapping[str, int]) -> int:
    """Visible characters that are neither letters nor written otherwise in Markdown."""
    return sum(
        count
        for one, count in lost.items()
        if not one.isalnum() and one not in _MAY_BE_LOST and unicodedata.category(one)[0] not in "CZ"
    )


def lost_words(plain: str, text: str) -> int:
    """How many words of the one are not in the other."""
    wanted, got = Counter(_WORD.findall(plain.casefold())), Counter(_WORD.findall(text.casefold()))
    return (wanted - got).total()


def unreadable(text: str) -> float:
    """The share of characters that stand for nothing."""
    visible = len(text) - sum(map(text.count, " \r\n\t"))
    return len(_UNREADABLE.findall(text)) / visible if visible else 0.0


def summary(choices: Sequence[tuple[int, PageChoice]]) -> str:
    """Which reading was taken for which pages, and why: `layout 1-4, 6 (2 columns); pdfium 5 (…)`.

    Without the reasons if that would be too long: the warnings have those that matter.
    """
    whole = _by_pages(choices, lambda one: f" ({one.why})" if one.why else "")
    return whole if len(whole) <= LONGEST_SUMMARY else _by_pages(choices, lambda _: "")


def _by_pages(choices: Iterable[tuple[int, PageChoice]], said: Callable[[PageChoice], str]) -> str:
    pages: dict[tuple[str, str], list[int]] = {}
    for number, choice in choices:
        pages.setdefault((choice.reading, said(choice)), []).append(number)
    return "; ".join(f"{reading} {ranges(numbers)}{why}" for (reading, why), numbers in pages.items())


def reasons(choices: Iterable[tuple[int, PageChoice]]) -> list[str]:
    """A warning for each reason that another library's text was taken for some pages.

    What OCR read, and pages without text, have warnings of their own.
    """
    pages: dict[tuple[str, str], list[int]] = {}
    for number, choice in choices:
        if choice.reading in ("pdfium", "xberg"):
            pages.setdefault((choice.reading, choice.why), []).append(number)
    return [
        f"page {ranges(numbers)}: {reading}'s text is used, because {why}"
        for (reading, why), numbers in pages.items()
    ]


def ranges(numbers: Sequence[int]) -> str:
    found: list[list[int]] = []
    for number in numbers:
        if found and number == found[-1][1] + 1:
            found[-1][1] = number
        else:
            found.append([number, number])
    return ", ".join(str(one) if one == last else f"{one}-{last}" for one, last in found)
