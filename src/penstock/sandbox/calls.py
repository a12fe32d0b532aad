"""Converts a call's arguments and result to JSON and back, by the types the function declares."""

from __future__ import annotations

import builtins
import importlib
import inspect
import json
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, get_type_hints

from pydantic import TypeAdapter
from pydantic_core import to_json

from penstock.errors import DocumentRejected, EmbedderRefused, InvalidArgument

MOST_WORDS = 4_096
_COME_BACK: dict[str, type[Exception]] = {
    kind.__name__: kind for kind in (DocumentRejected, EmbedderRefused, InvalidArgument)
} | {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type)
    and issubclass(kind, (ArithmeticError, LookupError, OSError, ValueError, TypeError))
}
"""Errors that are re-raised as themselves; all others as text."""


def name_of(function: Callable[..., Any]) -> str:
    """`module:name` of a function that another process can find again."""
    if "." in function.__qualname__ or "<" in function.__qualname__:
        raise TypeError(f"{function.__qualname__} is not a function of a module; a child cannot find it")
    return f"{function.__module__}:{function.__name__}"


def found(name: str) -> Callable[..., Any]:
    module, _, function = name.partition(":")
    loaded: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return loaded


def packed(value: Any) -> bytes:
    return to_json(value)


def arguments(function: Callable[..., Any], values: Sequence[Any]) -> list[Any]:
    """Arguments as the function declares them."""
    return [
        one.validate_python(value)
        for one, value in zip(_parameters(function, len(values)), values, strict=True)
    ]


def answer(function: Callable[..., Any], frame: bytes | bytearray) -> Any:
    """What the function returned; ValueError when it is not of the declared type."""
    return _result(function).validate_json(frame)


def error_packed(error: Exception) -> bytes:
    plain = all(isinstance(one, (str, int, float, bool, type(None))) for one in error.args)
    name = type(error).__name__ if _COME_BACK.get(type(error).__name__) is type(error) else ""
    words = (
        [one[:MOST_WORDS] if isinstance(one, str) else one for one in error.args] if plain and name else None
    )
    return json.dumps([type(error).__qualname__[:200], str(error)[:MOST_WORDS], name, words]).encode()


def error_unpacked(frame: bytes | bytearray) -> tuple[Exception | None, str, str]:
    """The error itself if its class is known here, and its name and text."""
    kind, words, name, values = TypeAdapter(
        tuple[str, str, str, list[str | int | float | bool | None] | None]
    ).validate_json(frame)
    if values is None or name not in _COME_BACK:
        return None, kind, words
    try:
        return _COME_BACK[name](*values), kind, words
    except Exception:  # noqa: BLE001  # a constructor with other arguments: use the text
        return None, kind, words


@cache
def _parameters(function: Callable[..., Any], count: int) -> list[TypeAdapter[Any]]:
    hints = get_type_hints(function)
    declared = list(inspect.signature(function).parameters.values())
    if declared and declared[-1].kind is inspect.Parameter.VAR_POSITIONAL:
        declared += declared[-1:] * count
    return [TypeAdapter(hints.get(one.name, Any)) for one in declared[:count]]


@cache
def _result(function: Callable[..., Any]) -> TypeAdapter[Any]:
    return TypeAdapter(get_type_hints(function).get("return", Any))
