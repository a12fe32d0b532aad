"""Puts the secrets of a payload back into a copy that somebody edited as it is shown, without them."""

from __future__ import annotations

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
    shown = redacted(original)[0]
    return _Comparison(edited, shown).fields(edited, original, shown, "payload")


class _Comparison:
    """Compares an edited payload with what was shown; each value of both is looked into once."""

    def __init__(self, edited: object, shown: object) -> None:
        self._numbers: dict[object, int] = {}
        self._looked_at: dict[int, tuple[int, bool]] = {}
        self._look(edited)
        self._look(shown)

    def fields(self, edited: Mapping[str, Any], original: object, shown: object, path: str) -> dict[str, Any]:
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
            found[name] = self._value(value, own.get(name, _NOTHING), inner, place)
        return found

    def _value(self, edited: object, original: object, shown: object, path: str) -> object:
        match edited:
            case dict():
                return self.fields(edited, original, shown, path)
            case list():
                return self._elements(edited, original, shown, path)
            case str():
                return _text(edited, original, shown, path)
        return edited

    def _elements(self, edited: Sequence[Any], original: object, shown: object, path: str) -> list[Any]:
        own = original if isinstance(original, list) else []
        seen = [self._look(each) for each in shown] if isinstance(shown, list) else []
        elsewhere = {number for number, has_mark in seen if has_mark}
        found = []
        for index, value in enumerate(edited):
            place = f"{path}.{index}"
            number, _ = self._look(value)
            is_here = index < len(seen) and seen[index][0] == number
            if not is_here and number in elsewhere:
                raise _unknown(place, "this element of the list stood elsewhere, and its secrets with it")
            inner = shown[index] if isinstance(shown, list) and index < len(shown) else _NOTHING
            found.append(self._value(value, own[index] if index < len(own) else _NOTHING, inner, place))
        return found

    def _look(self, value: object) -> tuple[int, bool]:
        """A number that only equal values have, and whether a mark is inside."""
        if (known := self._looked_at.get(id(value))) is not None:
            return known
        match value:
            case dict():
                inside = {name: self._look(inner) for name, inner in value.items()}
                key: object = ("fields", frozenset((name, number) for name, (number, _) in inside.items()))
                has_mark = any(_is_marked(name) or marked for name, (_, marked) in inside.items())
            case list():
                elements = [self._look(each) for each in value]
                key = ("elements", tuple(number for number, _ in elements))
                has_mark = any(marked for _, marked in elements)
            case _:
                has_mark = isinstance(value, str) and _is_marked(value)
                return self._numbers.setdefault((type(value), value), len(self._numbers)), has_mark
        looked = self._numbers.setdefault(key, len(self._numbers)), has_mark
        self._looked_at[id(value)] = looked
        return looked


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


def _is_marked(text: str) -> bool:
    return any(mark in text for mark in _MARKS)


def _unknown(path: str, why: str) -> InvalidArgument:
    return InvalidArgument(
        f"{path[:200]}: {why}", path[:200], "Write the value itself, or leave the field as it is shown"
    )
