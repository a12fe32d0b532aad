"""Makes any value safe to log: JSON types only, secrets redacted, size limited, never raising."""

import math
from collections import deque
from collections.abc import Iterable, Mapping, Sized
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from datetime import date, datetime, time, timedelta
from enum import Enum
from itertools import islice
from typing import Final

from penstock.observe import failure
from penstock.observe.redaction import REDACTED, hides, scrub

RESERVED: Final = frozenset({"time", "level", "logger", "event"})
_DEPTH = 6
_ITEMS = 50
_BUDGET = 600
_CHARS_PER_UNIT = 40
_NAME_LIMIT = 100


def clean_fields(fields: Mapping[str, object], *, with_traceback: bool) -> dict[str, object]:
    """The fields of one log line; an exception becomes its code and message."""
    cleaner = _Cleaner()
    line: dict[str, object] = {}
    for name, value in fields.items():
        try:
            if isinstance(value, BaseException) and not hides(name, value):
                for part, text in failure.describe(name, value, with_traceback=with_traceback).items():
                    line[_free_name(part)] = text
            else:
                line[_free_name(name)] = cleaner.named(name, value)
        except Exception:  # noqa: BLE001 - a field's own code may raise anything
            line[_free_name(name)] = _unprintable(value)
    return line


def clean_text(value: object) -> str:
    """The value as one text without secrets."""
    try:
        return scrub(str.__str__(value) if isinstance(value, str) else str(value))
    except Exception:  # noqa: BLE001 - so may a value's __str__
        return _unprintable(value)


def _free_name(name: str) -> str:
    name = name[:_NAME_LIMIT]
    return f"{name}_" if name in RESERVED else name


def _unprintable(value: object) -> str:
    return f"[unprintable {type(value).__name__}]"


class _Cleaner:
    """Walks the values of one log line; a budget limits wide, deep and circular structures."""

    __slots__ = ("_left",)

    def __init__(self) -> None:
        self._left = _BUDGET

    def named(self, name: str, value: object, depth: int = 0) -> object:
        return REDACTED if hides(name, value) else self.value(value, depth)

    def value(self, value: object, depth: int) -> object:
        self._left -= 1
        if self._left < 0 or depth > _DEPTH:
            return "[cut]"
        try:
            return self._convert(value, depth)
        except Exception:  # noqa: BLE001 - so may a nested value's __str__
            return _unprintable(value)

    def _convert(self, value: object, depth: int) -> object:
        match value:
            case None | bool():
                return value
            case Enum():
                return self.value(value.value, depth + 1)
            case str():
                return self._text(str.__str__(value))
            case int():
                # json refuses to print integers of more than 4,300 digits.
                return int(value) if value.bit_length() <= 128 else f"[integer of {value.bit_length()} bits]"
            case float():
                return float(value) if math.isfinite(value) else float.__repr__(value)
            case bytes() | bytearray() | memoryview():
                return f"[{len(value)} bytes]"
            case datetime() | date() | time():
                return value.isoformat()
            case timedelta():
                return value.total_seconds()
            case BaseException():
                return self._text(f"{type(value).__name__}: {failure.message(value)}")
            case Mapping():
                return self._pairs(value.items(), depth)
            case tuple() if hasattr(value, "_fields"):
                return self._pairs(zip(value._fields, value, strict=False), depth)
            case list() | tuple() | set() | frozenset() | deque():
                return self._items(value, depth)
            case _ if is_dataclass(value) and not isinstance(value, type):
                return self._pairs(((f.name, getattr(value, f.name)) for f in dataclass_fields(value)), depth)
            case _:
                return self._text(str(value))

    def _text(self, text: str) -> str:
        text = scrub(text)
        self._left -= len(text) // _CHARS_PER_UNIT
        return text

    def _pairs(self, pairs: Iterable[tuple[object, object]], depth: int) -> dict[str, object]:
        shown: dict[str, object] = {}
        for key, value in islice(pairs, _ITEMS):
            name = clean_text(key)[:_NAME_LIMIT]
            shown[name] = self.named(name, value, depth + 1)
            if self._left < 0:
                break
        return shown

    def _items(self, items: Iterable[object], depth: int) -> list[object]:
        # ("Authorization", "Bearer …") is how raw HTTP headers look.
        if isinstance(items, list | tuple) and len(items) == 2 and isinstance(items[0], str | bytes):
            name = items[0] if isinstance(items[0], str) else items[0].decode("latin-1")
            if hides(name, items[1]):
                return [self._text(name), REDACTED]
        shown: list[object] = []
        for item in islice(items, _ITEMS):
            shown.append(self.value(item, depth + 1))
            if self._left < 0:
                break
        if isinstance(items, Sized) and len(items) > len(shown):
            shown.append(f"[{len(items) - len(shown)} more]")
        return shown
