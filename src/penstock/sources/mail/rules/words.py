"""Finds words and phrases in subjects, file names and texts, whatever their case and accents."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

LONGEST_START: Final = 6_000
LONGEST_END: Final = 1_000
"""How much of a text is read: its start, and its end for what stands in the footer."""

_TOKEN: Final = re.compile(r"[^\W\d_]+|\d+")


@dataclass(frozen=True, slots=True)
class Words:
    """A text as words: in lower case, without accents, in one line."""

    tokens: tuple[str, ...]
    line: str

    @classmethod
    def of(cls, text: str) -> Words:
        # Cut again: some letters become eighteen.
        plain = unicodedata.normalize("NFKD", clipped(text).casefold())[: LONGEST_START + LONGEST_END]
        tokens = tuple(_TOKEN.findall("".join(each for each in plain if not unicodedata.combining(each))))
        return cls(tokens, f" {' '.join(tokens)} ")

    def starts_with(self, phrases: Iterable[str]) -> str | None:
        return next((phrase for phrase in phrases if self.line.startswith(f" {phrase} ")), None)


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words, parts of compound words and phrases, all as `Words` writes them."""

    words: frozenset[str]
    starts: tuple[str, ...]
    ends: tuple[str, ...]
    phrases: tuple[str, ...]

    @classmethod
    def of(cls, **languages: str) -> Vocabulary:
        """Of comma-separated lists; `rechnung*` matches the start of a word, `*rechnung` the end of one."""
        given = [each.strip() for text in languages.values() for each in text.split(",")]
        plain = listed(",".join(each for each in given if "*" not in each))
        return cls(
            frozenset(each for each in plain if " " not in each),
            listed(",".join(each for each in given if each.endswith("*"))),
            listed(",".join(each for each in given if each.startswith("*"))),
            tuple(each for each in plain if " " in each),
        )

    def count_in(self, text: Words) -> int:
        """How many of its single words the text has."""
        return len(self.words.intersection(text.tokens))

    def found_in(self, text: Words) -> str | None:
        """The first word or phrase that the text has."""
        for token in text.tokens:
            if token in self.words or token.startswith(self.starts) or token.endswith(self.ends):
                return token
        return next((phrase for phrase in self.phrases if f" {phrase} " in text.line), None)


def clipped(text: str) -> str:
    if len(text) <= LONGEST_START + LONGEST_END:
        return text
    return f"{text[:LONGEST_START]} {text[-LONGEST_END:]}"


def listed(text: str) -> tuple[str, ...]:
    """The words and phrases of a comma-separated list, as `Words` writes them."""
    return tuple(Words.of(each).line.strip() for each in text.split(",") if each.strip())
