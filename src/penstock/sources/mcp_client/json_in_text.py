"""Finds the JSON value in a text that may have prose around it."""

from __future__ import annotations

import json
import re
from typing import Any, Final

LONGEST_TEXT: Final = 64 * 1024 * 1024
MOST_STARTS: Final = 32
"""Brackets that turn out to start no result."""
MOST_WALKS: Final = 4
"""Times the length of the text may be read in vain; the decoder holds the interpreter while it reads."""

NOTHING: Final = object()
"""The text holds no JSON object and no array of objects."""
_START: Final = re.compile(r"[{\[]")
_DECODER: Final = json.JSONDecoder()


def json_in(text: str) -> Any:
    """The first JSON object, or array of objects, in a text; NOTHING if there is none.

    An empty array counts only if nothing else is found: "[]" and "[1]" in prose are no results.
    """
    if len(text) > LONGEST_TEXT:
        return NOTHING
    found: Any = NOTHING
    position = walked = 0
    for _ in range(MOST_STARTS):
        start = _START.search(text, position)
        if start is None:
            return found
        try:
            value, position = _DECODER.raw_decode(text, start.start())
        except (ValueError, RecursionError) as wrong:
            position = start.end()
            walked += _read_to(wrong, text) - position
            if walked > MOST_WALKS * len(text):
                return found
            continue
        if isinstance(value, dict) or (value and all(isinstance(each, dict) for each in value)):
            return value
        if value == []:
            found = value
    return found


def _read_to(wrong: ValueError | RecursionError, text: str) -> int:
    """How far the decoder read; a string without an end is reported where it begins."""
    if isinstance(wrong, json.JSONDecodeError) and not wrong.msg.startswith("Unterminated string"):
        return wrong.pos
    return len(text)
