"""Rows that SQL answers as JSON, read into frozen dataclasses by their annotations, and back to JSON values.

What comes from our own functions needs no validation, and importing pydantic takes longer than most commands.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import fields, is_dataclass
from datetime import datetime
from enum import Enum
from types import NoneType, UnionType
from typing import Any, NewType, TypeVar, Union, get_args, get_origin, get_type_hints
from uuid import UUID

T = TypeVar("T")
Convert = Callable[[Any], Any]

_known: dict[type, tuple[tuple[str, Convert | None], ...]] = {}


def row_from_json(kind: type[T], text: str) -> T:
    """One JSON object as a row of this class."""
    return row_from(kind, json.loads(text))


def row_from(kind: type[T], values: Mapping[str, Any]) -> T:
    """The row with these values; names that the class does not have are left out."""
    found = {}
    for name, convert in _converters(kind):
        if name in values:
            value = values[name]
            found[name] = value if value is None or convert is None else convert(value)
    return kind(**found)


def items(row: object) -> Iterator[tuple[str, Any]]:
    """The names and values of a row's fields, in order."""
    for name, _ in _converters(type(row)):
        yield name, getattr(row, name)


def plain(row: object, *, without: Collection[str] = ()) -> dict[str, Any]:
    """The row as JSON has it: times are ISO 8601, ids and states are text."""
    return {name: _plain(value) for name, value in items(row) if name not in without}


def _plain(value: Any) -> Any:
    match value:
        case Enum():
            return value.value
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case UUID():
            return str(value)
        case list() | tuple():
            return [_plain(each) for each in value]
        case dict():
            return {name: _plain(each) for name, each in value.items()}
        case _:
            return plain(value) if is_dataclass(value) else value


def _converters(kind: Any) -> tuple[tuple[str, Convert | None], ...]:
    """Each field with what makes its value from JSON; looked up in the annotations once per class."""
    if kind not in _known:
        hints = get_type_hints(kind)
        _known[kind] = tuple((field.name, _converter(hints[field.name])) for field in fields(kind))
    return _known[kind]


def _converter(hint: Any) -> Convert | None:
    """What makes a value of this type from JSON; None where JSON has it already."""
    if isinstance(hint, NewType):
        return _converter(hint.__supertype__)
    if get_origin(hint) in (Union, UnionType):
        converts = [_converter(each) for each in get_args(hint) if each is not NoneType]
        return converts[0] if len(converts) == 1 else None
    if get_origin(hint) in (list, tuple):
        convert = _converter(get_args(hint)[0])
        whole = get_origin(hint)
        if convert is None:
            return None if whole is list else tuple
        return lambda values: whole(map(convert, values))
    if not isinstance(hint, type):
        return None
    if hint is datetime:
        return _datetime
    if hint is UUID:
        return _uuid
    if hint is float:  # JSON writes 2.0 as 2
        return float
    if issubclass(hint, Enum):
        return hint
    return (lambda values: row_from(hint, values)) if is_dataclass(hint) else None


def _datetime(value: str | datetime) -> datetime:
    return datetime.fromisoformat(value) if isinstance(value, str) else value


def _uuid(value: str | UUID) -> UUID:
    return UUID(value) if isinstance(value, str) else value
