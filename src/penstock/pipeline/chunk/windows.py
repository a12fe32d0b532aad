"""Scans a text window by window, with the same results as on the whole text."""

from __future__ import annotations

import re
from collections.abc import Iterator

from penstock.pipeline.text import Text

_WINDOW = 65_536
_NEAR = 256
_WORD = re.compile(r"\S+")


def cuts(text: Text, pattern: re.Pattern[str], start: int, end: int) -> Iterator[tuple[int, int]]:
    """The end of each match of a pattern, and the number of line ends in it.

    The pattern matches no letter or digit, so a window that ends with one does not split a match.
    """
    size = _WINDOW
    while start < end:
        window = text.slice(start, min(start + size, end))
        length = len(window)
        if start + length < end:
            while length and not window[length - 1].isalnum():
                length -= 1
            if not length:
                size *= 2
                continue
        for found in pattern.finditer(window, 0, length):
            yield start + found.end(), found.group().count("\n")
        start += max(1, length)
        size = _WINDOW


def words(text: Text, start: int, end: int) -> Iterator[tuple[int, int, str | None]]:
    """Start, end and letters of each word; without the letters if a word is longer than a window."""
    while start < end:
        window = text.slice(start, min(start + _WINDOW, end))
        length = len(window)
        if not length:
            return
        if start + length < end:
            while length and not window[length - 1].isspace():
                length -= 1
            if not length:
                stop = _end_of_word(text, start + len(window), end)
                yield start, stop, None
                start = stop
                continue
        for found in _WORD.finditer(window, 0, length):
            yield start + found.start(), start + found.end(), found.group()
        start += length


def first_visible(text: Text, start: int, end: int) -> int:
    """The first place that is not white space, or the end."""
    while start < end:
        near = text.slice(start, min(start + _NEAR, end))
        if not near:
            return end
        if stripped := near.lstrip():
            return start + len(near) - len(stripped)
        start += len(near)
    return end


def last_visible(text: Text, start: int, end: int) -> int:
    """The place after the last that is not white space; 0 when there is none."""
    while start < end:
        near = max(start, end - _NEAR)
        if stripped := text.slice(near, end).rstrip():
            return near + len(stripped)
        end = near
    return 0


def _end_of_word(text: Text, start: int, end: int) -> int:
    while start < end:
        window = text.slice(start, min(start + _WINDOW, end))
        found = re.search(r"\s", window)
        if found or not window:
            return start + (found.start() if found else 0)
        start += len(window)
    return end
