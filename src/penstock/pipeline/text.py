"""Access to a document's text by character offsets: in memory, or in a file read through a window."""

from __future__ import annotations

import codecs
import os
from bisect import bisect_right
from typing import Protocol

_BLOCK_BYTES = 262_144
_BLOCKS_KEPT = 8


class Text(Protocol):
    def __len__(self) -> int: ...

    def slice(self, start: int, end: int) -> str: ...


class HeldText:
    """Text in memory."""

    def __init__(self, text: str) -> None:
        self._text = text

    def __len__(self) -> int:
        return len(self._text)

    def slice(self, start: int, end: int) -> str:
        return self._text[start:end]


class TextFile:
    """Text in a UTF-8 file, read on demand; reading forward, or a little way back, is cheap."""

    def __init__(self, descriptor: int, characters: int) -> None:
        self._descriptor = descriptor
        self._characters = characters
        self._starts = [0]  # the first character of each block read so far
        self._bytes = [0]  # and its first byte
        self._blocks: dict[int, str] = {}
        self._at, self._until, self._here = 0, 0, ""

    def __len__(self) -> int:
        return self._characters

    def slice(self, start: int, end: int) -> str:
        if self._at <= start and end <= self._until:
            return self._here[start - self._at : end - self._at]
        parts: list[str] = []
        end = min(end, self._characters)
        while start < end:
            block = self._find(start)
            text = self._block(block)
            first = self._starts[block]
            self._at, self._until, self._here = first, first + len(text), text
            if start >= self._until:  # the file is shorter than declared
                break
            parts.append(text[start - first : end - first])
            start = self._until
        return "".join(parts)

    def _find(self, character: int) -> int:
        while character >= self._starts[-1]:
            last = len(self._starts) - 1
            length = len(self._block(last))
            if len(self._starts) - 1 == last:  # nothing follows it
                return last
            if character < self._starts[last] + length:
                return last
        return bisect_right(self._starts, character) - 1

    def _block(self, number: int) -> str:
        if number in self._blocks:
            return self._blocks[number]
        data = os.pread(self._descriptor, _BLOCK_BYTES, self._bytes[number])
        text, used = codecs.utf_8_decode(data, "replace", len(data) < _BLOCK_BYTES)
        if text and len(self._starts) == number + 1:
            self._starts.append(self._starts[number] + len(text))
            self._bytes.append(self._bytes[number] + used)
        if len(self._blocks) >= _BLOCKS_KEPT:
            del self._blocks[min(self._blocks)]
        self._blocks[number] = text
        return text
