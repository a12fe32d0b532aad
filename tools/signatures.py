"""Signatures for readers: no module paths, defaults shown, one parameter per line if it is long."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from enum import Enum
from importlib import import_module
from typing import Any

WIDTH = 100
_PATH = re.compile(r"\b(?!asyncpg\.)(?:[a-z_]\w*\.)+(?=[A-Za-z_])")
_PRIVATE = re.compile(r"\b_[A-Z]\w*")
_UNPACKED = re.compile(r"^Unpack\[(\w+)\]$")


def shown(name: str, function: Callable[..., Any]) -> str:
    """`async def name(parameter: type = default) -> type`."""
    made = inspect.signature(function)
    returned = annotation(made.return_annotation)
    whole = inspect.unwrap(function)
    word = "async def" if inspect.iscoroutinefunction(function) else "def"
    if whole is not function and inspect.isasyncgenfunction(whole):
        returned = _managed(returned, "AsyncContextManager")
    elif whole is not function and inspect.isgeneratorfunction(whole):
        returned = _managed(returned, "ContextManager")
    text = _wrapped(f"{word} {name}", made, f" -> {returned}" if returned else "")
    known = vars(import_module(function.__module__))
    return _PRIVATE.sub(lambda found: annotation(known[found[0]]), text)


def constructor(holder: type) -> str:
    """`Name(parameter: type = default)`."""
    return _wrapped(holder.__name__, inspect.signature(holder), "")


def annotation(told: object) -> str:
    """A type without the paths of its modules."""
    if told is inspect.Signature.empty:
        return ""
    text = told if isinstance(told, str) else "None" if told is None else inspect.formatannotation(told)
    text = _PATH.sub("", text).replace("'", '"').replace("AbstractAsyncContext", "AsyncContext")
    return re.sub(r"\bTasks\b", "Penstock", text)  # its base class, which programs do not know


def default(value: object) -> str:
    if isinstance(value, Enum):
        return f"{type(value).__name__}.{value.name}"
    if isinstance(value, str):
        return f'"{value}"'
    text = repr(value)
    return "…" if "<" in text or " object at " in text else _PATH.sub("", text)


def _managed(returned: str, manager: str) -> str:
    return re.sub(r"^(?:Async)?(?:Iterator|Generator)\[", f"{manager}[", returned)


def _wrapped(start: str, made: inspect.Signature, end: str) -> str:
    parts = _parameters(made)
    line = f"{start}({', '.join(parts)}){end}"
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{start}(", *(f"    {part}," for part in parts), f"){end}"])


def _parameters(made: inspect.Signature) -> list[str]:
    parts: list[str] = []
    has_star = False
    positional = False
    for index, each in enumerate(made.parameters.values()):
        if index == 0 and each.name in ("self", "cls"):
            continue
        if positional and each.kind is not each.POSITIONAL_ONLY:
            parts.append("/")
        positional = each.kind is each.POSITIONAL_ONLY
        if each.kind is each.VAR_POSITIONAL:
            has_star = True
        elif each.kind is each.KEYWORD_ONLY and not has_star:
            parts.append("*")
            has_star = True
        parts.append(_parameter(each))
    return [*parts, "/"] if positional else parts


def _parameter(each: inspect.Parameter) -> str:
    stars = "*" if each.kind is each.VAR_POSITIONAL else "**" if each.kind is each.VAR_KEYWORD else ""
    told = _UNPACKED.sub(r"\1", annotation(each.annotation))
    text = f"{stars}{each.name}" + (f": {told}" if told else "")
    if each.default is inspect.Parameter.empty:
        return text
    return f"{text}{' = ' if told else '='}{default(each.default)}"
