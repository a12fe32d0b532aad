"""Puts the secrets of a payload back into a copy that somebody edited as it is shown, without them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

from penstock.errors import InvalidArgument
from penstock.observe.payloads import redacted, redacted_text
from penstock.observe.redaction import REDACTED

_MARKS: Final = (REDACTED, "***@")
"""What stands for a secret, alone or inside of a text."""
_NOTHING: Final = object()


def restored(edited: Mapping[str, Any], original: object) -> dict[str, Any]:
    """The edited payload with the original's values where it has what is shown instead of them.

    Lists are compared position by position. Raises InvalidArgument with the path where it is not known which
    value is meant: the original has none there, the text around a secret was edited, or a list's elements
    were moved.
    """
    return _fields(edited, original, redacted(original)[0], "payload")


def _value(edited: object, original: object, shown: object, path: str) -> object:
    match edited:
        case dict():
            return _fields(edited, original, shown, path)
        case list():
            return _elements(edited, original, shown, path)
        case str():
            return _text(edited, original, shown, path)
    return edited


def _fields(edited: Mapping[str, Any], original: object, shown: object, path: str) -> dict[str, Any]:
    own = original if isinstance(original, dict) else {}
    seen = shown if isinstance(shown, dict) else {}
    # The name of a field can look like a secret, too. All at once: a payload can have many fields.
    named: dict[str, list[str]] = {}
    for each in own:
        named.setdefault(redacted_text(each), []).append(each)
    found: dict[str, Any] = {}
    for given, value in edited.items():
        place = f"{path}.{given}"
        name = given
        if given not in own and _is_marked(given):
            meant = named.get(given, [])
            if len(meant) != 1:
                raise _unknown(place, "the task has no field, or several, whose name is shown like this")
            name = meant[0]
        inner = seen.get(redacted_text(name), _NOTHING)
        found[name] = _value(value, own.get(name, _NOTHING), inner, place)
    return found


def _elements(edited: Sequence[Any], original: object, shown: object, path: str) -> list[Any]:
    own = original if isinstance(original, list) else []
    seen = shown if isinstance(shown, list) else []
    elsewhere = {_written(each) for each in seen if _has_mark(each)}
    found = []
    for index, value in enumerate(edited):
        place = f"{path}.{index}"
        is_here = index < len(seen) and seen[index] == value
        if not is_here and elsewhere and _has_mark(value) and _written(value) in elsewhere:
            raise _unknown(place, "this element of the list stood elsewhere, and its secrets with it")
        inner = seen[index] if index < len(seen) else _NOTHING
        found.append(_value(value, own[index] if index < len(own) else _NOTHING, inner, place))
    return found


def _text(edited: str, original: object, shown: object, path: str) -> object:
    if isinstance(shown, str) and edited == shown:
        return original
    if edited == REDACTED:
        if original is _NOTHING:
            raise _unknown(path, f"it is {REDACTED}, and the task has no value there")
        return original
    if isinstance(original, str) and isinstance(shown, str):
        for mark in _MARKS:
            if mark in edited and mark in shown and mark not in original:
                raise _unknown(path, f"it was edited around {mark}, which stands for a secret")
    return edited


def _has_mark(value: object) -> bool:
    match value:
        case dict():
            return any(_is_marked(name) or _has_mark(inner) for name, inner in value.items())
        case list():
            return any(_has_mark(inner) for inner in value)
        case str():
            return _is_marked(value)
    return False


def _written(value: object) -> str:
    return json.dumps(value, sort_keys=True)


def _is_marked(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def _unknown(path: str, why: str) -> InvalidArgument:
    return InvalidArgument(
        f"{path[:200]}: {why}", path[:200], "Write the value itself, or leave the field as it is shown"
    )
