"""Shows a stored payload without its secrets: by the names of fields, and by what a secret looks like."""

from __future__ import annotations

import re
from typing import Final

from penstock.observe.redaction import REDACTED, hides, scrub

_DEPTH: Final = 40
_LOOKS_SECRET: Final = re.compile(
    r"(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*"  # a JSON web token; it starts a word, or this were quadratic
    r"|\b(?:pk|sk|rk|whsec|ghp|gho|ghs|ghu|xoxb|xoxp|xoxa|glpat|hf|ya29)[_.-][\w.-]{12,}"
    r"|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b"
    r"|-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----"
)


def redacted(payload: object) -> tuple[object, bool]:
    """The payload as anybody who reads tasks may see it, and whether something was left out."""
    walk = _Walk()
    shown = walk.value(payload, 0)
    return shown, walk.left_out


def redacted_text(text: str) -> str:
    """A text of a payload, or the name of a field, as anybody who reads tasks may see it."""
    return _LOOKS_SECRET.sub(REDACTED, scrub(text))


class _Walk:
    __slots__ = ("left_out",)

    def __init__(self) -> None:
        self.left_out = False

    def value(self, value: object, depth: int) -> object:
        if depth > _DEPTH:
            return self._hidden()
        match value:
            case str():
                return self._text(value)
            case dict():
                return {
                    self._text(name): self._hidden()
                    if inner is not None and hides(name, inner)
                    else self.value(inner, depth + 1)
                    for name, inner in value.items()
                }
            case list():
                return [self.value(inner, depth + 1) for inner in value]
        return value

    def _text(self, text: str) -> str:
        shown = redacted_text(text)
        self.left_out = self.left_out or shown != text
        return shown

    def _hidden(self) -> str:
        self.left_out = True
        return REDACTED
