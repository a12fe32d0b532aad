"""The text of a piece of HTML, in one pass.

It builds no tree: a tree builder takes time in the square of the depth, of a tag's attributes and of the open
formatting elements, and anybody can send a mail to a connected mailbox. This takes time in proportion to the
length, whatever is in it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from typing import Final

_MARKUP: Final = re.compile(r"<(?=[a-zA-Z/!?])")
# A quote counts only after "=": in <p title=don't> it is part of the value.
_TAG: Final = re.compile(
    r"""</?([a-zA-Z][^\s/>]*+) (?: [^>=]++ | = \s*+ (?: "[^"]*+" | '[^']*+' )?+ )*+ >""", re.VERBOSE
)
_ENDS: Final = {
    name: re.compile(rf"</{name}(?=[\s/>])", re.IGNORECASE)
    for name in ("script", "style", "template", "title")
}
"""Elements whose content is not shown, with what ends them."""


def text_of_html(html: str, separator: str) -> str:
    """The texts between the tags, each without white space around it, joined by the separator."""
    texts = (decoded(text).strip() for text in _texts(html))
    return separator.join(text for text in texts if text)


def decoded(text: str) -> str:
    """The text with its entities decoded."""
    try:
        return unescape(text)
    except ValueError:  # a character number of thousands of digits
        return text


def _texts(html: str) -> Iterator[str]:
    """The text between each two pieces of markup; what begins and does not end hides the rest."""
    position = 0
    while (found := _MARKUP.search(html, position)) is not None:
        yield html[position : found.start()]
        position = _end_of_markup(html, found.start())
    yield html[position:]


def _end_of_markup(html: str, start: int) -> int:
    if html.startswith("<!--", start):
        if html.startswith((">", "->"), start + 4):
            return html.index(">", start) + 1
        return _after(html, "-->", start + 4)
    tag = _TAG.match(html, start)
    if tag is None:
        # A tag without its end; or a declaration, or an end tag without a name, which end at the next ">".
        named = html[start + 1 : start + 3].removeprefix("/")[:1].isalpha()
        return len(html) if named else _after(html, ">", start)
    end = _ENDS.get(tag[1].lower()) if html[start + 1] != "/" else None
    if end is None:
        return tag.end()
    last = end.search(html, tag.end())
    return len(html) if last is None else last.start()


def _after(html: str, end: str, start: int) -> int:
    found = html.find(end, start)
    return len(html) if found < 0 else found + len(end)
