"""Google's field masks: files(id,name),nextPageToken."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, TypeAlias

Mask: TypeAlias = "dict[str, Mask | None]"


def parse_mask(text: str) -> Mask:
    """The mask as a tree; none stands for everything below."""
    tokens = re.findall(r"[\w*]+|[(),/]", text)

    def level(position: int) -> tuple[Mask, int]:
        mask: Mask = {}
        while position < len(tokens) and tokens[position] != ")":
            name = tokens[position]
            position += 1
            below: Mask | None = None
            if position < len(tokens) and tokens[position] == "(":
                below, position = level(position + 1)
                position += 1
            elif position < len(tokens) and tokens[position] == "/":
                below = {tokens[position + 1]: None} if position + 1 < len(tokens) else None
                position += 2
            if name != ",":
                mask[name] = below
        return mask, position

    return level(0)[0]


def masked(value: Any, mask: Mask | None) -> Any:
    """The value with only the fields of the mask."""
    if mask is None or "*" in mask:
        return value
    if isinstance(value, list):
        return [masked(each, mask) for each in value]
    if isinstance(value, Mapping):
        return {name: masked(each, mask[name]) for name, each in value.items() if name in mask}
    return value
