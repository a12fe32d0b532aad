"""Paths into JSON values, written in JMESPath."""

from __future__ import annotations

from typing import Any

import jmespath


class Path:
    """A compiled path; two with the same text are equal."""

    __slots__ = ("_compiled", "text")

    def __init__(self, text: str) -> None:
        """Raises ValueError for a text that is no path."""
        self.text = text
        try:
            self._compiled = jmespath.compile(text)
        except jmespath.exceptions.JMESPathError as wrong:
            raise ValueError(f"{text!r} is not a JMESPath expression: {wrong}") from None

    def find(self, value: Any) -> Any:
        """What is there; None if nothing is, or if the value has another shape than the path expects."""
        try:
            return self._compiled.search(value)
        except jmespath.exceptions.JMESPathError:
            return None

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Path) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)

    def __repr__(self) -> str:
        return f"Path({self.text!r})"
