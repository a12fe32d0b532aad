"""Drive's search language: name contains 'x' and modifiedTime > '…' and not trashed = true."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Final, TypeAlias

from penstock.simulators.providers.comparisons import COMPARISONS
from penstock.simulators.providers.google.errors import GoogleRefused, error
from penstock.simulators.providers.world.clock import parse_time
from penstock.simulators.providers.world.drive import Drive, DriveFile

Test: TypeAlias = Callable[[DriveFile], bool]

_TOKEN: Final = re.compile(r"\s*(?:'((?:[^'\\]|\\.)*)'|(!=|<=|>=|[=<>()])|([\w.]+))")


def parse_query(text: str | None, drive: Drive) -> Test:
    """A test of a file; GoogleRefused if the query cannot be read."""
    if not (text or "").strip():
        return lambda file: True
    return _Parser(str(text), drive).parse()


class _Parser:
    def __init__(self, text: str, drive: Drive) -> None:
        self._drive = drive
        self._tokens: list[tuple[str, str]] = []
        position = 0
        while position < len(text.rstrip()):
            found = _TOKEN.match(text, position)
            if found is None:
                raise _refused()
            quoted, sign, word = found.groups()
            self._tokens.append(
                ("value", re.sub(r"\\(.)", r"\1", quoted))
                if quoted is not None
                else ("sign", sign)
                if sign
                else ("word", word)
            )
            position = found.end()

    def parse(self) -> Test:
        test = self._either()
        if self._tokens:
            raise _refused()
        return test

    def _either(self) -> Test:
        tests = [self._both()]
        while self._next("or"):
            tests.append(self._both())
        return lambda file: any(test(file) for test in tests)

    def _both(self) -> Test:
        tests = [self._one()]
        while self._next("and"):
            tests.append(self._one())
        return lambda file: all(test(file) for test in tests)

    def _one(self) -> Test:
        if self._next("not"):
            negated = self._one()
            return lambda file: not negated(file)
        if self._next("("):
            inner = self._either()
            if not self._next(")"):
                raise _refused()
            return inner
        kind, first = self._take()
        if kind == "value":
            if not (self._next("in") and self._next("parents")):
                raise _refused()
            return lambda file: file.parent == first
        operator, value = self._take()[1], self._take()[1]
        return self._test(first, operator, value)

    def _test(self, name: str, operator: str, value: str) -> Test:
        if name in ("modifiedTime", "createdTime") and operator in COMPARISONS:
            compare = COMPARISONS[operator]
            try:
                than = parse_time(value)
            except ValueError:
                raise _refused() from None
            if name == "modifiedTime":
                return lambda file: compare(file.modified, than)
            return lambda file: compare(file.created, than)
        if name == "trashed":
            return lambda file: (file.trashed is (value == "true")) is (operator == "=")
        if name == "parentId" and operator == "=":
            return lambda file: file.parent == value
        folded = value.casefold()
        if operator == "contains" and name == "fullText":
            return lambda file: folded in f"{file.name} {self._drive.text_of(file)}".casefold()
        read: dict[str, Callable[[DriveFile], str]] = {
            "name": lambda file: file.name,
            "title": lambda file: file.name,
            "mimeType": lambda file: file.mime,
        }
        if name not in read or operator not in ("=", "!=", "contains"):
            raise _refused()
        get = read[name]
        if operator == "contains":
            return lambda file: folded in get(file).casefold()
        return lambda file: (get(file).casefold() == folded) is (operator == "=")

    def _next(self, word: str) -> bool:
        if self._tokens and self._tokens[0][0] != "value" and self._tokens[0][1].lower() == word:
            self._tokens.pop(0)
            return True
        return False

    def _take(self) -> tuple[str, str]:
        if not self._tokens:
            raise _refused()
        return self._tokens.pop(0)


def _refused() -> GoogleRefused:
    return GoogleRefused(error(400, "Invalid Value", "invalid", location="q"))
