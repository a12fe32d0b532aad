"""Writes XML that holds data as nested records, in which attributes and elements are fields."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.pipeline.parse.composer import Composer
from penstock.pipeline.parse.readers.records import Records
from penstock.pipeline.parse.readers.xml_tree import Node

_DEEPEST = 100
_CONTEXT, _UNIT = "contextRef", "unitRef"
"""What a figure of XBRL is about: whose it is, of which time, and in what it is counted."""
_TECHNICAL = ("xmlns", "xsi:", "xml:space")


class RecordWalker:
    def __init__(self, out: Composer) -> None:
        self._out = out

    def write(self, root: Node) -> None:
        self._out.heading(root.tag, 1)
        Records(self._out).write(_value(root, 0), 2)


def _value(node: Node, depth: int) -> Any:
    """Words, or a mapping of fields; a field that occurs several times is a list."""
    attributes = {
        name.rpartition(":")[2]: said
        for name, said in node.attributes.items()
        if said.strip() and not name.startswith(_TECHNICAL)
    }
    inner = node.elements()
    if _CONTEXT in attributes and not inner:
        return _fact(node.text(), attributes)
    if not inner or node.has_words or depth > _DEEPEST:
        words = node.text()
        if not attributes:
            return words
        return attributes | ({"text": words} if words else {})
    fields: dict[str, Any] = dict(attributes)
    groups: dict[str, list[Any]] = {}
    for kid in inner:
        groups.setdefault(kid.tag, []).append(_value(kid, depth + 1))
    for tag, values in groups.items():
        name = tag if tag not in fields else f"{tag} "
        fields[name] = values[0] if len(values) == 1 else values
    return fields


def _fact(words: str, attributes: Mapping[str, str]) -> str:
    """A figure or a text of XBRL with its context and unit: `1204331 (FY2025, EUR)`.

    How it was rounded and its id are not part of what it says.
    """
    about = [attributes[name] for name in (_CONTEXT, _UNIT) if name in attributes]
    return f"{words} ({', '.join(about)})" if words else ""
