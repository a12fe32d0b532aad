"""Parses XML into a light tree; entities are never expanded beyond a short text, and nothing is fetched."""

from __future__ import annotations

import codecs
import html
import re
from dataclasses import dataclass, field
from xml.parsers import expat

from penstock.pipeline.reasons import Reason, rejected

_LONGEST_ENTITY = 64
_NAMED = re.compile(r"&([A-Za-z][A-Za-z0-9]{1,31}+);")
_OWN = frozenset({"amp", "lt", "gt", "quot", "apos"})
_UNDEFINED_ENTITY = 11
_UNKNOWN_ENCODING = 18
_MARKS = ((codecs.BOM_UTF8, "utf-8-sig"), (codecs.BOM_UTF16_LE, "utf-16"), (codecs.BOM_UTF16_BE, "utf-16"))
_LONGEST_DECLARATION = 200
_DECLARED = re.compile(rb"""<\?xml\s[^>]*?\bencoding\s*=\s*["']([A-Za-z][\w.-]*)""")


@dataclass(slots=True, eq=False)
class Node:
    tag: str
    """In lower case, without its namespace."""
    attributes: dict[str, str]
    kids: list[Node | str] = field(default_factory=list)

    def elements(self) -> list[Node]:
        return [kid for kid in self.kids if isinstance(kid, Node)]

    def first(self, *tags: str) -> Node | None:
        return next((kid for kid in self.kids if isinstance(kid, Node) and kid.tag in tags), None)

    def all(self, *tags: str) -> list[Node]:
        """Descendants with one of these names, outermost first, none inside another."""
        found: list[Node] = []
        waiting = [self]
        while waiting:
            node = waiting.pop()
            if node.tag in tags and node is not self:
                found.append(node)
            else:
                waiting += (kid for kid in reversed(node.kids) if isinstance(kid, Node))
        return found

    def text(self) -> str:
        """All words inside, with single spaces."""
        parts: list[str] = []
        waiting: list[Node | str] = [self]
        while waiting:
            one = waiting.pop()
            if isinstance(one, str):
                parts.append(one)
            else:
                waiting += reversed(one.kids)
        return " ".join("".join(parts).split())

    @property
    def has_words(self) -> bool:
        """Whether words stand directly in it, beside or instead of elements."""
        return any(isinstance(kid, str) and kid.strip() for kid in self.kids)


def tree(data: bytes) -> Node:
    """The root; raises expat.ExpatError for broken XML, and rejects a file with nested entities."""
    try:
        return _parsed(data)
    except expat.ExpatError as error:
        if error.code not in (_UNDEFINED_ENTITY, _UNKNOWN_ENCODING):
            raise
    except (LookupError, ValueError):
        pass  # expat itself reads no encoding with several bytes for a character, such as Shift_JIS
    # Names of HTML such as &nbsp; come from a DTD, which is not read.
    text = data.decode(_encoding(data), "replace")
    return _parsed(_NAMED.sub(_character, text).encode("utf-8", "replace"), encoding="utf-8")


def _encoding(data: bytes) -> str:
    """How the file is written: by its byte order mark, else as it declares, else in UTF-8."""
    for mark, name in _MARKS:
        if data.startswith(mark):
            return name
    declared = _DECLARED.match(data[:_LONGEST_DECLARATION])
    try:
        return codecs.lookup(declared[1].decode("ascii")).name if declared else "utf-8"
    except LookupError:
        return "utf-8"


def _character(found: re.Match[str]) -> str:
    if found[1] in _OWN:
        return found[0]
    known = html.unescape(found[0])
    return "" if known == found[0] or known in "&<>\"'" else known


def _parsed(data: bytes, encoding: str | None = None) -> Node:
    """`encoding` is what counts instead of the one that the file declares."""
    parser = expat.ParserCreate(encoding)
    parser.buffer_text = True
    parser.buffer_size = 1 << 16
    outside = Node("", {})
    path = [outside]
    names: dict[str, str] = {}

    def start(tag: str, attributes: dict[str, str]) -> None:
        name = names.get(tag) or names.setdefault(tag, tag.rpartition(":")[2].lower())
        node = Node(name, attributes)
        path[-1].kids.append(node)
        path.append(node)

    def end(_: str) -> None:
        path.pop()

    def words(text: str) -> None:
        path[-1].kids.append(text)

    def skipped(name: str, is_parameter: bool) -> None:
        if not is_parameter:
            known = html.unescape(f"&{name};")
            path[-1].kids.append("" if known.startswith("&") else known)

    parser.StartElementHandler = start
    parser.EndElementHandler = end
    parser.CharacterDataHandler = words
    parser.SkippedEntityHandler = skipped
    parser.EntityDeclHandler = _check_entity
    parser.Parse(data, True)
    return next((kid for kid in outside.kids if isinstance(kid, Node)), outside)


def _check_entity(
    name: str,
    is_parameter: bool,
    value: str | None,
    base: str | None,
    system: str | None,
    public: str | None,
    notation: str | None,
) -> None:
    """An entity outside the file is never read; one that contains others could grow without limit."""
    if value is not None and (is_parameter or len(value) > _LONGEST_ENTITY or "&" in value or "<" in value):
        raise rejected(
            Reason.BOMB, f"the XML declares the entity {name[:50]!r}, which could grow when expanded"
        )
