"""Fills the placeholders of a binding's arguments."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any, Final

_PLACEHOLDER: Final = re.compile(r"\{([a-z_]+)\}")
CONDITION: Final = "$if"
"""A table with this key is left out unless the value it names is given."""
_LEFT_OUT: Final = object()


def fill(template: Mapping[str, Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """The arguments. A text that is only "{name}" becomes the value itself, and is left out if there is none;
    a table or list that has nothing left in it is left out, too."""
    filled = _fill(template, values)
    return {} if filled is _LEFT_OUT else filled


def fill_text(template: str, values: Mapping[str, Any]) -> str:
    """A text with every placeholder replaced."""
    return _PLACEHOLDER.sub(lambda found: str(values[found[1]]), template)


def names_in(template: Any) -> Iterator[str]:
    """The names of all placeholders and conditions."""
    match template:
        case str():
            yield from _PLACEHOLDER.findall(template)
        case Mapping():
            for key, value in template.items():
                yield from (value,) if key == CONDITION else names_in(value)
        case list():
            for each in template:
                yield from names_in(each)


def _fill(template: Any, values: Mapping[str, Any]) -> Any:
    match template:
        case str() if (whole := _PLACEHOLDER.fullmatch(template)) is not None:
            value = values.get(whole[1])
            return _LEFT_OUT if value is None else value
        case str():
            if any(values.get(name) is None for name in _PLACEHOLDER.findall(template)):
                return _LEFT_OUT
            return fill_text(template, values)
        case Mapping():
            if values.get(template.get(CONDITION, ""), _LEFT_OUT) is None:
                return _LEFT_OUT
            if CONDITION in template and template[CONDITION] not in values:
                return _LEFT_OUT
            pairs = ((key, _fill(value, values)) for key, value in template.items() if key != CONDITION)
            table = {key: value for key, value in pairs if value is not _LEFT_OUT}
            return table if table or not template else _LEFT_OUT
        case list():
            items = [item for each in template if (item := _fill(each, values)) is not _LEFT_OUT]
            return items if items or not template else _LEFT_OUT
        case _:
            return template
