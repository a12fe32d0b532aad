"""Writes data (nested mappings, lists and scalars) as text a person would search: headings, lines, tables."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from penstock.pipeline.parse.composer import DEEPEST_HEADING, Composer

_NESTED = (dict, list)
_MOST_COLUMNS = 12
_LONG = 300
"""A longer value is a paragraph of its own."""
_SMALL_NODES = 24
_SMALL_VALUES = 8
_SHORT = 40
_LONGEST_PATH = 200
_NAMES = ("title", "name", "label", "heading", "id", "key")
"""What a record is called by, the best first."""


class Records:
    def __init__(self, out: Composer) -> None:
        self._out = out
        self._lines: list[str] = []

    def write(self, value: Any, level: int = 1) -> None:
        self._container(value, level)
        self._flush()

    def _container(self, value: Any, level: int) -> None:
        """Goes as deep as there are headings; what is deeper becomes lines with a path."""
        if level > DEEPEST_HEADING or not isinstance(value, _NESTED):
            for path, scalar in _flat(value):
                self._pair(path, scalar)
        elif isinstance(value, list):
            self._array(value, level)
        else:
            self._mapping(value, level)

    def _mapping(self, value: dict[str, Any], level: int) -> None:
        """Its own values first: after the heading of an inner one they would seem to belong to that."""
        large: list[tuple[str, Any]] = []
        for key, inner in value.items():
            if not isinstance(inner, _NESTED):
                self._pair(key, inner)
            elif (small := None if table_of(inner) else _small(inner)) is not None:
                self._small(key, inner, small)
            else:
                large.append((key, inner))
        self._flush()
        for key, inner in large:
            self._out.heading(key, level)
            self._container(inner, level + 1)
            self._flush()

    def _small(self, key: str, inner: Any, small: list[tuple[str, str]]) -> None:
        if isinstance(inner, list) and all(len(each) <= _SHORT for _, each in small):
            self._pair(key, ", ".join(each for _, each in small))
            return
        for path, scalar in small:
            self._pair(_joined(key, path), scalar)

    def _array(self, values: list[Any], level: int) -> None:
        self._flush()
        if rows := table_of(values):
            self._out.table(rows)
            return
        if not any(isinstance(each, _NESTED) for each in values):
            words = [_said(each) for each in values]
            if max(map(len, words), default=0) <= _SHORT:
                self._out.paragraph(", ".join(words))
            else:
                for word in words:
                    self._pair("", word)
            return
        for number, each in enumerate(values, start=1):
            if (small := _small(each)) is not None:
                if small:
                    self._pair("", "; ".join(f"{path}: {said}" if path else said for path, said in small))
            else:
                self._flush()
                self._out.heading(_name(each) or str(number), level)
                self._container(each, level + 1)
        self._flush()

    def _pair(self, key: str, value: Any) -> None:
        said = _said(value)
        if not said:
            return
        line = f"{key}: {said}" if key else said
        if len(said) > _LONG or "\n" in said:
            self._flush()
            self._out.paragraph(line)
        else:
            self._lines.append(line)

    def _flush(self) -> None:
        if self._lines:
            self._out.items(self._lines)
            self._lines = []


def table_of(values: Any) -> list[list[str]] | None:
    """Flat records with the same few fields, or rows of scalars, as a table with a header."""
    if not isinstance(values, list) or len(values) < 2:
        return None
    columns: dict[str, None] = {}
    kind = type(values[0])
    widest = 0
    for each in values:
        if type(each) is not kind or not isinstance(each, _NESTED) or not each:
            return None
        inner = each.values() if isinstance(each, dict) else each
        if any(isinstance(one, _NESTED) or len(_said(one)) > _LONG for one in inner):
            return None
        widest = max(widest, len(each))
        if isinstance(each, dict):
            columns.update(dict.fromkeys(each))
        if len(columns) > _MOST_COLUMNS or widest > _MOST_COLUMNS:
            return None
    if kind is list:
        return [[_said(one) for one in row] for row in values] if widest > 1 else None
    if len(columns) < 2:
        return None
    return [list(columns), *([_said(row.get(name)) for name in columns] for row in values)]


def _small(value: Any) -> list[tuple[str, str]] | None:
    """The paths and values of something small enough to be part of the lines around it; else None."""
    found: list[tuple[str, str]] = []
    waiting: list[tuple[str, Any]] = [_innermost(value)]
    for _ in range(_SMALL_NODES):
        if not waiting:
            return found
        path, each = waiting.pop()
        if isinstance(each, _NESTED):
            if len(each) > _SMALL_VALUES:
                return None
            if isinstance(each, dict):
                waiting += [(_joined(path, key), inner) for key, inner in reversed(each.items())]
            elif any(isinstance(inner, _NESTED) for inner in each):
                return None
            else:
                waiting += [(path, inner) for inner in reversed(each)]
        elif said := _said(each):
            if len(said) > _LONG or "\n" in said or len(found) >= _SMALL_VALUES:
                return None
            found.append((path, said))
    return None


def _innermost(value: Any) -> tuple[str, Any]:
    """The scalar that containers of one are around, with its path; the value itself if that is none.

    `{"a": [{"b": [1]}]}` says `a.b: 1`, and headings for its containers would say no more.
    """
    path, inner = "", value
    for _ in range(_SMALL_NODES):
        if not isinstance(inner, _NESTED):
            return path, inner
        if not inner:
            return path, None
        if len(inner) > 1:
            break
        if isinstance(inner, dict):
            ((key, inner),) = inner.items()
            path = _joined(path, key)
        else:
            inner = inner[0]
    return "", value


def _flat(value: Any) -> Iterator[tuple[str, Any]]:
    """Each scalar with its path; iterative, since data may be nested deeply."""
    waiting: list[tuple[str, Any]] = [("", value)]
    while waiting:
        path, each = waiting.pop()
        if isinstance(each, dict):
            waiting += [(_joined(path, key), inner) for key, inner in reversed(each.items())]
        elif isinstance(each, list):
            waiting += [(path, inner) for inner in reversed(each)]
        else:
            yield path, each


def _said(scalar: Any) -> str:
    """A scalar as JSON writes it; nothing for null."""
    if isinstance(scalar, str):
        return scalar
    return "" if scalar is None else "true" if scalar is True else "false" if scalar is False else str(scalar)


def _joined(path: str, key: str) -> str:
    if not path or not key:
        return path or key
    return f"{path}.{key}"[-_LONGEST_PATH:]


def _name(value: Any) -> str | None:
    if isinstance(value, dict):
        for name in _NAMES:
            said = value.get(name)
            if isinstance(said, str) and 0 < len(said) <= _LONG and "\n" not in said:
                return said
    return None
