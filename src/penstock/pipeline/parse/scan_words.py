"""Turns the words that OCR found on a page, with their places and confidence, into text with tables."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final, NamedTuple

from penstock.pipeline.parse.columns import PlacedWords, tables
from penstock.pipeline.parse.table import markdown_table

_WORD_LEVEL: Final = "5"
_FIELDS: Final = 12
_MARK: Final = 0xF0000
"""Private characters that say which word a piece of a table's cell is."""
_MOST_WORDS: Final = 0xFFFE
_SURE: Final = 50.0
_LONGEST_OF_TWO: Final = 14
"""Average characters in each of two columns; with more in both, they are columns of prose."""
_STRUCTURE: Final = re.compile(r"[ \t]*(?:#{1,6}(?:[ \t]|$)|`{3}|~{3})")


class ScanWord(NamedTuple):
    """A word on a page; pixels from the upper left."""

    block: int
    paragraph: int
    line: int
    left: int
    top: int
    width: int
    height: int
    confidence: float
    """From 0 to 100."""
    text: str


@dataclass(frozen=True, slots=True)
class ScannedPage:
    """What OCR made of one page."""

    words: tuple[ScanWord, ...]
    inked: bool = True
    """Something is drawn on it, more than specks; without it, no words are to be expected."""

    @property
    def confidence(self) -> float:
        """The mean of the words, by their length; zero without words."""
        total = sum(len(word.text) for word in self.words)
        return sum(len(word.text) * word.confidence for word in self.words) / total if total else 0.0

    @property
    def worth(self) -> float:
        """What two readings of one page are compared by: characters of words that are likely right."""
        return sum(
            len(word.text) * word.confidence
            for word in self.words
            if word.confidence >= _SURE and sum(map(str.isalnum, word.text)) > 1
        )

    def markdown(self) -> str:
        """Paragraphs in the order of reading, and tables in the place of their first words."""
        found = list(self._tables())
        in_table = {index: at for at, (_, indexes) in enumerate(found) for index in indexes}
        lines: list[str] = []
        written: set[int] = set()
        last: tuple[int, int] | None = None
        for (block, paragraph, _), indexes in _lines(self.words):
            for table in dict.fromkeys(in_table[index] for index in indexes if index in in_table):
                if table not in written:
                    written.add(table)
                    lines += ["", markdown_table(found[table][0]), ""]
            rest = [self.words[index].text for index in indexes if index not in in_table]
            if not rest:
                continue
            if last not in (None, (block, paragraph)):
                lines.append("")
            last = (block, paragraph)
            lines.append(_guarded(" ".join(rest)))
        return "\n".join(lines).strip("\n")

    def _tables(self) -> Iterator[tuple[list[list[str]], frozenset[int]]]:
        """Rows of cells, and the words that are in them."""
        placed = [
            PlacedWords(
                word.left,
                -(word.top + word.height),
                word.left + word.width,
                -word.top,
                word.text + chr(_MARK + index),
            )
            for index, word in enumerate(self.words[:_MOST_WORDS])
        ]
        for rows in tables(placed):
            text = "".join(cell for row in rows for cell in row)
            cells = [["".join(one for one in cell if ord(one) < _MARK) for cell in row] for row in rows]
            if not _is_prose(cells):
                yield cells, frozenset(ord(one) - _MARK for one in text if ord(one) >= _MARK)


def words_of(table: str) -> ScannedPage:
    """The words in the table of values that tesseract writes; what is only specks is dropped."""
    return ScannedPage(tuple(_words(table)))


def _words(table: str) -> Iterator[ScanWord]:
    for row in table.split("\n"):
        fields = row.rstrip("\r").split("\t", _FIELDS - 1)
        if len(fields) < _FIELDS or fields[0] != _WORD_LEVEL:
            continue
        text = "".join(one for one in fields[-1].strip() if ord(one) < _MARK)
        block, paragraph, line = map(int, fields[2:5])
        left, top, width, height = map(int, fields[6:10])
        confidence = float(fields[10])
        if text and (confidence >= _SURE or any(map(str.isalnum, text))):
            yield ScanWord(block, paragraph, line, left, top, width, height, confidence, text)


def _lines(words: Sequence[ScanWord]) -> Iterator[tuple[tuple[int, int, int], list[int]]]:
    line: list[int] = []
    for index, word in enumerate(words):
        if line and words[line[0]][:3] != word[:3]:
            yield words[line[0]][:3], line
            line = []
        line.append(index)
    if line:
        yield words[line[0]][:3], line


def _is_prose(rows: Sequence[Sequence[str]]) -> bool:
    if len(rows[0]) > 2:
        return False
    columns = [[len(cell) for cell in column if cell] for column in zip(*rows, strict=True)]
    return all(sum(column) > _LONGEST_OF_TWO * len(column) for column in columns if column)


def _guarded(line: str) -> str:
    """A line that looks like a heading or code in Markdown is none on paper."""
    if not any(map(str.isalnum, line)):
        return ""
    return "\\" + line.lstrip() if _STRUCTURE.match(line) else line
