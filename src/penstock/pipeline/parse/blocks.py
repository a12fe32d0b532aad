"""Finds the structure of Markdown-like text: headings, paragraphs, lists, tables and code, by offsets."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator

from penstock.model import Block
from penstock.model.document import BlockKind
from penstock.pipeline.parse.clean import cleaned

_HEADING = re.compile(r" {0,3}(?:> {0,3})*+(#{1,6})(?:[ \t]+\S|[ \t]*$)")
_TAGGED = re.compile(r" {0,3}(?:<(?:a|center|div|p)(?=[\s>])[^<>]*+>[ \t]*+)*+<h([1-6])(?=[\s>])", re.I)
"""A heading in HTML, as pages about programs often have it."""
_MOST_TAGGED_LINES = 8
_UNDERLINE = re.compile(r" {0,3}(=+|-{2,})[ \t]*$")
_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r" {0,3}(?:[-*+•◦▪‣–]|\d{1,9}[.)])[ \t]+\S")  # noqa: RUF001  # bullets of all programs
_DELIMITER_ROW = re.compile(r"[ \t]*+\|?[ \t]*+:?-++:?[ \t]*+(?:\|[ \t]*+:?-++:?[ \t]*+)*+\|?[ \t]*+$")

Line = tuple[int, int, str]
"""Where a line starts and ends, and what it says."""


def assembled(
    pages: Iterable[tuple[int | None, str]], *, plain: bool = False
) -> tuple[str, tuple[Block, ...]]:
    """Pages (number and text) joined into one text, with the blocks of each in order.

    Plain text has paragraphs only: its `#` and `-` are just characters.
    """
    parts: list[str] = []
    blocks: list[Block] = []
    length = 0
    for page, raw in pages:
        text = cleaned(raw)
        if not text.strip():
            continue
        if parts:
            parts.append("\n\n")
            length += 2
        found = _paragraphs(text) if plain else structure(text)
        if length or page is not None:
            found = (Block(one.kind, one.start + length, one.end + length, page, one.level) for one in found)
        blocks += found
        parts.append(text)
        length += len(text)
    return "".join(parts), tuple(blocks)


def structure(text: str) -> Iterator[Block]:
    """The blocks of one text. Every character that is not white space lies in exactly one."""
    lines = _lines(text)
    at = 0
    while at < len(lines):
        line = lines[at][2]
        if not line.strip():
            at += 1
            continue
        marked = not line[0].isalpha()  # few lines are, and only they need to be searched
        if marked and (heading := _HEADING.match(line)):
            yield _block("heading", lines[at : at + 1], len(heading[1]))
            at += 1
            continue
        if marked and (tagged := _TAGGED.match(line)):
            end = _tagged_end(lines, at, f"</h{tagged[1]}")
            yield _block("heading", lines[at:end], int(tagged[1]))
            at = end
            continue
        kind, end, level = _extent(lines, at)
        yield _block(kind, lines[at:end], level)
        at = end


def _extent(lines: list[Line], at: int) -> tuple[BlockKind, int, int]:
    """The kind of the block that starts at this line, the line after its last, and its level."""
    line = lines[at][2]
    if fence := _FENCE.match(line):
        return "code", _fence_end(lines, at, fence[1]), 0
    if _starts_table(lines, at):
        end = at + 1
        while end < len(lines) and "|" in lines[end][2]:
            end += 1
        return "table", end, 0
    if _ITEM.match(line):
        return "list", _list_end(lines, at), 0
    end = at + 1
    while end < len(lines) and not _interrupts(lines, end):
        underline = _UNDERLINE.match(lines[end][2])
        if underline and end == at + 1:
            return "heading", end + 1, 1 if underline[1][0] == "=" else 2
        end += 1
    return "paragraph", end, 0


def _interrupts(lines: list[Line], at: int) -> bool:
    line = lines[at][2]
    return not line[:1].isalpha() and bool(
        not line.strip()
        or _HEADING.match(line)
        or _TAGGED.match(line)
        or _FENCE.match(line)
        or _ITEM.match(line)
        or (line.lstrip().startswith("|") and _starts_table(lines, at))
    )


def _tagged_end(lines: list[Line], at: int, closing: str) -> int:
    """The line after the one that closes the heading; only the first line if none nearby does."""
    for end in range(at, min(len(lines), at + _MOST_TAGGED_LINES)):
        if closing in lines[end][2].lower():
            return end + 1
    return at + 1


def _starts_table(lines: list[Line], at: int) -> bool:
    if at + 1 >= len(lines) or "|" not in lines[at][2]:
        return False
    below = lines[at + 1][2]
    return "-" in below and "|" in below and _DELIMITER_ROW.match(below) is not None


def _fence_end(lines: list[Line], at: int, fence: str) -> int:
    for end in range(at + 1, len(lines)):
        closing = _FENCE.match(lines[end][2])
        if closing and closing[1].startswith(fence) and not lines[end][2].strip().strip(fence[0]):
            return end + 1
    return len(lines)


def _list_end(lines: list[Line], at: int) -> int:
    """A list goes on over blank lines as long as items or indented lines follow."""
    end = at + 1
    while end < len(lines):
        line = lines[end][2]
        if not line.strip():
            following = next((later for later in range(end, len(lines)) if lines[later][2].strip()), None)
            if following is None:
                break
            said = lines[following][2]
            if _HEADING.match(said) or not (_ITEM.match(said) or said.startswith(("  ", "\t"))):
                break
            end = following + 1
        elif _interrupts(lines, end) and not _ITEM.match(line):
            break
        else:
            end += 1
    return end


class Paragraphs:
    """Finds paragraphs in plain text that comes in pieces: lines with words, up to a line without."""

    def __init__(self) -> None:
        self.found = False
        self._at = 0
        self._start, self._end = -1, 0
        self._line_has_words = False

    def add(self, piece: str) -> Iterator[Block]:
        lines = piece.split("\n")
        for number, line in enumerate(lines):
            if number and not self._line_has_words:
                yield from self.end()
            if number:
                self._line_has_words = False
            if stripped := line.strip():
                lead = len(line) - len(line.lstrip())
                if self._start < 0:
                    self._start = self._at + lead
                self._end = self._at + lead + len(stripped)
                self._line_has_words = self.found = True
            self._at += len(line) + (1 if number < len(lines) - 1 else 0)

    def end(self) -> Iterator[Block]:
        if self._start >= 0:
            yield Block("paragraph", self._start, self._end)
            self._start = -1


def _paragraphs(text: str) -> Iterator[Block]:
    paragraphs = Paragraphs()
    yield from paragraphs.add(text)
    yield from paragraphs.end()


def _block(kind: BlockKind, lines: list[Line], level: int = 0) -> Block:
    first, last = lines[0], next(line for line in reversed(lines) if line[2].strip())
    start = first[0] + len(first[2]) - len(first[2].lstrip())
    return Block(kind, start, last[0] + len(last[2].rstrip()), None, level)


def _lines(text: str) -> list[Line]:
    found, start = [], 0
    for line in text.split("\n"):
        found.append((start, start + len(line), line))
        start += len(line) + 1
    return found
