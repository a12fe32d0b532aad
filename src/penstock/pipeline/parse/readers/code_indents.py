"""Finds functions and classes in languages where indentation shows where they end: Python, Ruby, shell, …"""

from __future__ import annotations

import re
from dataclasses import dataclass

from penstock.pipeline.parse.readers.code_units import CodeUnit

_PYTHON = re.compile(r"(?:async[ \t]++)?(?:def|class)[ \t]++(\w++)")
_RUBY = re.compile(r"(?:def|class|module)[ \t]++(?:self\.)?([\w:.?!=<]++)")
_SHELL = re.compile(r"(?:function[ \t]++)?([\w:.-]++)[ \t]*+\(\)|function[ \t]++([\w:.-]++)")
_LUA = re.compile(r"(?:local[ \t]++)?function[ \t]++([\w.:]++)|([\w.]++)[ \t]*+=[ \t]*+function\b")
_R = re.compile(r"([\w.]++)[ \t]*+(?:<-|=)[ \t]*+function\b")
_PERL = re.compile(r"(?:sub|package)[ \t]++([\w:]++)")
INDENTED = {
    "text/x-python": _PYTHON,
    "text/x-ruby": _RUBY,
    "text/x-shellscript": _SHELL,
    "text/x-lua": _LUA,
    "text/x-r": _R,
    "text/x-perl": _PERL,
}
"""What starts a function or class, after the indentation."""
_QUOTES = re.compile(r"""\\.|\"{3}|'{3}|["'#]""")
"""An escaped character, the quotes of strings, and the start of a comment."""
_CLASSES = ("class", "module", "package")
_COMMENTS = ("#", "--", "@", "//")
_MOST_ABOVE = 200
"""Lines of comments and decorators above a function that belong to it."""


@dataclass(slots=True)
class _Open:
    indent: int
    depth: int
    is_class: bool


def indent_units(text: str, starts: re.Pattern[str]) -> list[CodeUnit]:
    """Functions and classes, each from the comments and decorators above it."""
    found: list[CodeUnit] = []
    opened: list[_Open] = []
    above = -1  # where the comments and decorators before this line start
    lines_above = 0
    inside: str | None = None  # the quotes of a string over several lines
    at = 0
    for line in text.split("\n"):
        start, at = at, at + len(line) + 1
        if inside is not None:
            inside = _after_strings(line, inside, starts)
            continue
        bare = line.lstrip()
        if not bare:
            above = -1
            continue
        indent = len(line) - len(bare)
        if bare.startswith(_COMMENTS):
            if above < 0:
                above, lines_above = start, 0
            lines_above += 1
            continue
        while opened and indent <= opened[-1].indent and not bare.startswith(("end", "}", ")", "]")):
            opened.pop()
        # A function inside a function belongs to it.
        if (not opened or opened[-1].is_class) and (name := starts.match(bare)):
            depth = opened[-1].depth + 1 if opened else 0
            is_near = above >= 0 and lines_above <= _MOST_ABOVE
            found.append(CodeUnit(above if is_near else start, next(filter(None, name.groups()), ""), depth))
            opened.append(_Open(indent, depth, bare.startswith(_CLASSES)))
        inside = _after_strings(line, None, starts)
        above = -1
    return found


def _after_strings(line: str, inside: str | None, starts: re.Pattern[str]) -> str | None:
    """The quotes of a long string that is still open at the end of a line; only Python has them."""
    if starts is not _PYTHON:
        return None
    for sign in _QUOTES.findall(line):
        if inside is not None:
            if sign == inside:
                inside = None
        elif sign == "#":
            break
        elif sign[0] != "\\":
            inside = sign
    return inside if inside is not None and len(inside) > 1 else None
