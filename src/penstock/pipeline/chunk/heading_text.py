"""Turns a heading as it is written into the words a person reads."""

from __future__ import annotations

import re

_LONGEST_MARKED = 1_000
"""A longer line is no heading that somebody marked up."""

_UNDERLINE = re.compile(r"\n[ \t]*(?:=+|-{2,})[ \t]*$")
_OPENING = re.compile(r"^(?:>[ \t]?)*+[ \t]*#{1,6}(?=[ \t]|$)")
_CLOSING = re.compile(r"(?:^|[ \t])#++[ \t]*$")
_ANCHOR = re.compile(r"[ \t]*\{[#.][^{}]*+\}$")
_TAG = re.compile(
    r"</?(?:a|b|big|br|center|code|div|em|font|h[1-6]|i|img|kbd|mark|p|picture|s|small|source|span|strong|sub"
    r"|sup|tt|u)(?=[\s/>])[^<>]*+>",
    re.I,
)
_CODE = re.compile(r"(?<!`)(`++)([^`]++)\1(?!`)")
_PICTURE = re.compile(r"!\[([^\[\]]*+)\](?:\([^()]*+\)|\[[^\[\]]*+\])")
_LINK = re.compile(r"\[([^\[\]]++)\](?:\([^()]*+(?:\([^()]*+\)[^()]*+)*+\)|\[[^\[\]]*+\])")
_STARS = re.compile(r"(?<![*\\])(\*{1,3})(?![*\s])([^*]++)(?<![\s\\])\1(?!\*)")
_UNDERSCORES = re.compile(r"(?<![\w\\])(_{1,3})(?![_\s])([^_]++)(?<![\s\\])\1(?!\w|\.\w)")
_STRUCK = re.compile(r"(?<!~)~~(?![~\s])([^~]++)~~(?!~)")
_ESCAPE = re.compile(r"\\([!-/:-@\[-`{-~])")


_PLAIN = re.compile(r"#{1,6} ([^\s\\`*_~<\[!{#=-]++(?: [^\s\\`*_~<\[!{#=-]++)*+)")
"""Hashes and words without any mark: most headings that a reader writes."""


def heading_text(text: str) -> str:
    """A heading as one line, without hashes, underline, emphasis, link targets, anchors and tags."""
    if plain := _PLAIN.fullmatch(text):
        return plain[1]
    text = _UNDERLINE.sub("", text.strip())
    text = _without_markup(text) if len(text) <= _LONGEST_MARKED else _OPENING.sub("", text)
    return " ".join(text.split())


def _without_markup(text: str) -> str:
    if opening := _OPENING.match(text):
        text = _CLOSING.sub("", text[opening.end() :])
    text = _ANCHOR.sub("", text.rstrip())
    text = _TAG.sub("", text)
    text = _LINK.sub(r"\1", _PICTURE.sub(r"\1", text))
    text = _CODE.sub(r"\2", text)
    for _ in range(2):  # bold inside italics
        text = _UNDERSCORES.sub(r"\2", _STARS.sub(r"\2", text))
    return _ESCAPE.sub(r"\1", _STRUCK.sub(r"\1", text))
