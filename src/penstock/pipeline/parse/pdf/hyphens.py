"""Decides whether a hyphen at a line's end belongs to the word, by how the rest of the document writes it.

A hyphen before a conjunction stands for the rest of a word, as in "pre- and post-war": it stays.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from penstock.pipeline.parse.pdf.words import HYPHEN

_AT_LINE_END = re.compile(r"(?<![\w-])[\w-]*+(?:[\x02\ufffe]|(?<=-)\r?\n)[\w-]*+")
_WORD = re.compile(r"\w++(?:-\w++)*+")
_DIVIDED = re.compile(rf"(?<![\w-])([\w-]*+){HYPHEN}(\w*+)")
_PLAIN = re.compile(r"[\x02\ufffe]")
_CONJUNCTIONS = frozenset(("und", "oder", "sowie", "bzw", "and", "eller", "og", "och", "e", "o", "u", "y"))
"""No word has one of these as its last syllable, or hardly any."""
_SYLLABLES = {
    "et": frozenset(("les", "des", "une")),
    "ou": frozenset(("les", "des", "une", "uma", "os")),
    "en": frozenset(("het", "een")),
}
"""Conjunctions that end words of other languages (`ticket`), with words that only their own language has."""
_OR = "or"
"""A conjunction if what is before it is a word (`full- or part-time`), and otherwise a syllable (`color`)."""
_NEXT_WORD = re.compile(r"\s+\w|/\w")
_AFTER_SHORT = re.compile(r"\.\s+\w")
_NEXT_HYPHEN = re.compile(r"\s+\w++-\w")
_FIRST = re.compile(r"\w++")


class Hyphens:
    """The words of a document, and how it hyphenates."""

    def __init__(self, texts: Iterable[str]) -> None:
        self._texts = list(texts)

    @cached_property
    def _written(self) -> set[str]:
        """Found when the first hyphen is to be decided on: most documents have none at a line's end."""
        return {
            word for text in self._texts for word in _WORD.findall(_AT_LINE_END.sub(" ", text.casefold()))
        }

    def joined(self, text: str) -> str:
        """The text with words joined; a hyphen stays if the document has it in the middle of a line."""
        return _DIVIDED.sub(self._word, text) if HYPHEN in text else text

    def _word(self, found: re.Match[str]) -> str:
        start, end = found[1], found[2]
        if f"{start}{end}".casefold() in self._written:
            return start + end
        if self._is_suspended(start, end, found.string, found.end()):
            return f"{start}- {end}"
        if start[-1:].isdigit() or end[:1].isdigit():
            return f"{start}-{end}"  # 2019-2020
        if "-" in start or f"{start}-{end}".casefold() in self._written:
            return f"{start}-{end}"
        return start + end

    def _is_suspended(self, start: str, end: str, text: str, at: int) -> bool:
        """Whether a conjunction follows the hyphen, and a word follows it; `at` is where it ends."""
        said = end.casefold()
        if not start or not _is_followed(said, text, at):
            return False
        if said == _OR:
            return start.casefold() in self._written or _NEXT_HYPHEN.match(text, at) is not None
        return said in _CONJUNCTIONS or not self._written.isdisjoint(_SYLLABLES.get(said, ()))


def starts_with_conjunction(line: str) -> bool:
    """Whether it surely does; of those that may be a syllable, the document has to decide."""
    first = _FIRST.match(line)
    if not first:
        return False
    said = first[0].casefold()
    return said in _CONJUNCTIONS and _is_followed(said, line, first.end())


def _is_followed(conjunction: str, text: str, at: int) -> bool:
    return bool(_NEXT_WORD.match(text, at) or (conjunction == "bzw" and _AFTER_SHORT.match(text, at)))


def as_markers(text: str) -> str:
    """pdfium's own mark for a hyphen at a line's end as ours."""
    return _PLAIN.sub(HYPHEN, text)


def words_of(texts: Iterable[str]) -> Hyphens:
    return Hyphens(texts)
