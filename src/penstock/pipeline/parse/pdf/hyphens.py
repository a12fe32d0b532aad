"""Decides whether a hyphen at a line's end belongs to the word, by how the rest of the document writes it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cached_property

from penstock.pipeline.parse.pdf.words import HYPHEN

_AT_LINE_END = re.compile(r"(?<![\w-])[\w-]*+(?:[\x02\ufffe]|(?<=-)\r?\n)[\w-]*+")
_WORD = re.compile(r"\w++(?:-\w++)*+")
_DIVIDED = re.compile(rf"(?<![\w-])([\w-]*+){HYPHEN}(\w*+)")
_PLAIN = re.compile(r"[\x02\ufffe]")


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
        if start[-1:].isdigit() or end[:1].isdigit():
            return f"{start}-{end}"  # 2019-2020
        if "-" in start or f"{start}-{end}".casefold() in self._written:
            return f"{start}-{end}"
        return start + end


def as_markers(text: str) -> str:
    """pdfium's own mark for a hyphen at a line's end as ours."""
    return _PLAIN.sub(HYPHEN, text)


def words_of(texts: Iterable[str]) -> Hyphens:
    return Hyphens(texts)
