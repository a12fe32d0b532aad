"""Prepares HTML for the parser: self-closed XHTML elements stay closed, and nesting is limited."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator

STEPS_PER_CHARACTER = 100
"""How many open elements the parser may visit: each tag may visit all around it. About 1 µs."""
FEW_STEPS = 4_000_000
"""However short the page is, this many are allowed: 40 ms."""
MOST_NESTED = 512
"""In a page that needs more steps, tags nested deeper than this are removed. Browsers stop there too."""

_FEW_TAGS = 2_800
"""However these are nested, they need fewer than FEW_STEPS."""
_SELF_CLOSED = re.compile(
    r"<(?:script|style|title|iframe|textarea|noscript|template|noframes|noembed|nav|object|canvas|select|xmp)"
    r"(?=[\s/])([^<>]*+)(?<=/)>",
    re.I,
)
_TITLE = re.compile(r"<(/?)title(?=[\s/>])", re.I)
_TAG = re.compile(r"<(/?)([a-zA-Z][^\s/>]*+)")
_WHOLE_TAG = re.compile(r"<([a-zA-Z][^\s/>]*+)(?:[^\"'>]|\"[^\"]*+\"|'[^']*+'|[\"'])*+>?+")
_LONGEST_TAG = 8_192
_MOST_ATTRIBUTES = 1_000
_HEADING = re.compile(r"^h[1-6]$")

_INLINE = {
    *("a", "b", "big", "code", "em", "font", "i", "nobr", "s", "small", "span", "strike", "strong"),
    *("sub", "sup", "tt", "u"),
}
_ALONE = {"a", "button", "nobr"}
"""A new one closes the open one."""
_EMPTY = {
    *("area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "source", "track", "wbr"),
    *("html", "head", "body"),
}
_CONTAINERS = ("div", "ul", "ol", "dl", "table", "form", "section", "blockquote", "pre")
_CELL = frozenset(("p", "td", "th", "caption", "colgroup"))
_ENDS = {
    **{name: {"p"} for name in ("p", *_CONTAINERS)},
    "h": {"p", "h"},
    "li": {"p", "li"},
    **{name: {"p", "dt", "dd"} for name in ("dt", "dd")},
    **dict.fromkeys(("td", "th", "caption"), _CELL),
    "tr": _CELL | {"tr"},
    **{name: _CELL | {"tr", "thead", "tbody", "tfoot"} for name in ("thead", "tbody", "tfoot")},
    "option": {"option"},
    "optgroup": {"option", "optgroup"},
}
"""What a starting element closes when it is the direct parent."""
_FLAT = _EMPTY | _ENDS.keys() - {*_CONTAINERS}
"""Elements that nest only through others: removing those is enough."""


def prepared(html: str) -> str:
    """The page in a form that parses in bounded time and in which no empty element swallows the rest."""
    html = _without_open_title(_SELF_CLOSED.sub(r"<wbr\1>", html))
    if len(html) > _LONGEST_TAG:
        html = _WHOLE_TAG.sub(_without_attributes, html)
    if html.count("<") < _FEW_TAGS:
        return html
    steps, most = 0, max(FEW_STEPS, STEPS_PER_CHARACTER * len(html))
    for _, _, depth in _tags(html):
        steps += depth
        if steps > most:
            return "".join(_shallow(html))
    return html


def _without_attributes(tag: re.Match[str]) -> str:
    """The parser compares each attribute with all others of its tag, so no tag may have very many."""
    said = tag[0]
    if len(said) <= _LONGEST_TAG or len(said.split(None, _MOST_ATTRIBUTES)) <= _MOST_ATTRIBUTES:
        return said
    return f"<{tag[1]}>"


def _without_open_title(html: str) -> str:
    """A title that is never closed would swallow the page: treat its words as part of the page."""
    start: int | None = None
    for found in _TITLE.finditer(html):
        if found[1]:
            start = None
        elif start is None:
            start = found.start()
    return html if start is None else html[:start] + _TITLE.sub(r"<\1wbr", html[start:])


def _tags(html: str) -> Iterator[tuple[int, str, int]]:
    """The position and name of each tag, and an estimate of how many elements are open around it."""
    path: list[str] = []
    blocks: list[int] = []  # positions in the path of those that are not inline
    opened: Counter[str] = Counter()
    names: dict[str, str] = {}

    def end(at: int) -> None:
        opened.subtract(path[at:])
        del path[at:]
        while blocks and blocks[-1] >= at:
            blocks.pop()

    for found in _TAG.finditer(html):
        is_end, written = found.groups()
        name = names.get(written) or names.setdefault(written, _HEADING.sub("h", written.lower()))
        yield found.start(), name, len(path)
        if name in _EMPTY:
            continue
        if is_end:
            if path and path[-1] == name:
                path.pop()
                opened[name] -= 1
                if blocks and blocks[-1] == len(path):
                    blocks.pop()
            elif opened[name] and name not in _INLINE:
                end(next(at for at in reversed(blocks) if path[at] == name))
        elif name not in _ALONE or not opened[name]:
            ended = _ENDS.get(name, ())
            while blocks and path[blocks[-1]] in ended:
                end(blocks[-1])
            if name not in _INLINE:
                blocks.append(len(path))
            path.append(name)
            opened[name] += 1


def _shallow(html: str) -> Iterator[str]:
    """The page in pieces, without the tags that are nested too deeply."""
    at = 0
    for start, name, depth in _tags(html):
        if depth < MOST_NESTED or name in _FLAT or start < at:
            continue
        end = html.find(">", start)
        if end < 0:
            break
        if start > at:
            yield html[at:start]
        at = end + 1
    yield html[at:]
