"""Finds the statements of SQL, each called by what it does to which object."""

from __future__ import annotations

import re

from penstock.pipeline.parse.readers.code_units import CodeUnit

_TOKEN = re.compile(
    r"--[^\n]*+|/\*(?:[^*]|\*(?!/))*+(?:\*/)?+"
    r"|'(?:[^']|'')*+'?+|\"[^\"]*+\"?+|\$\w*+\$|;|[^-/'\"$;]++|."
)
_NAMED = re.compile(
    r"\s*+((?:create|alter|drop)(?:[ \t\n]++or[ \t\n]++replace)?+"
    r"(?:[ \t\n]++(?:temp|temporary|unique|unlogged))?+[ \t\n]++(?:materialized[ \t\n]++)?+\w++"
    r"|insert[ \t\n]++into|update|delete[ \t\n]++from|grant|comment[ \t\n]++on[ \t\n]++\w++)"
    r"[ \t\n]++(?:if[ \t\n]++(?:not[ \t\n]++)?+exists[ \t\n]++)?+([\w.\"\[\]]++)",
    re.I,
)
_WORKS = ("create", "alter")
"""Other statements are named only if they are long: a thousand inserts are one list."""
_LONG = 200


def statement_units(text: str) -> list[CodeUnit]:
    found: list[CodeUnit] = []
    start = at = 0
    while at < len(text) and (token := _TOKEN.match(text, at)) is not None:
        at = token.end()
        said = token[0]
        if said[0] == "$" and len(said) > 1:
            end = text.find(said, at)
            at = len(text) if end < 0 else end + len(said)
        elif said == ";":
            _add(found, text, start, at)
            start = at
    _add(found, text, start, at)
    return found


def _add(found: list[CodeUnit], text: str, start: int, end: int) -> None:
    while start < end and text[start] in " \t\n":
        start += 1
    body = _past_comments(text, start, end)
    named = _NAMED.match(text, body, end)
    if named and (named[1].lower().startswith(_WORKS) or end - body > _LONG):
        found.append(CodeUnit(start, f"{' '.join(named[1].lower().split())} {named[2]}", 0))


def _past_comments(text: str, at: int, end: int) -> int:
    while at < end:
        if text[at] in " \t\n":
            at += 1
        elif text.startswith("--", at):
            at = text.find("\n", at, end) + 1 or end
        elif text.startswith("/*", at):
            close = text.find("*/", at, end)
            at = close + 2 if close >= 0 else end
        else:
            break
    return at
