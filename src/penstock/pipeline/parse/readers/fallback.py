"""Reads a file that breaks its format's rules as plain text, with a warning."""

from __future__ import annotations

from penstock.model import Parsed
from penstock.pipeline.parse.result import parsed


def as_plain_text(text: str, what: str, why: str) -> Parsed:
    """The words of a damaged file are still worth finding."""
    warning = f"the file is not valid {what} ({why}), so it was read as plain text"
    return parsed([(None, text)], parser="text", plain=True, warnings=(warning,))
