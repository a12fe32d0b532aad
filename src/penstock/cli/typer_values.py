"""Reads plain arguments without pydantic, which Typer imports for every option, given or not."""

from __future__ import annotations

from enum import Enum
from typing import Any, Final, Literal, get_args, get_origin

from typer import core

_PARAMETER: Final[Any] = getattr(core, "_TyperParameter", None)
_OTHER: Final = object()
_MOST_DIGITS = 18


def install() -> None:
    """Let Typer accept plainly valid values as they are; it converts or rejects all others as before.

    Written for Typer 0.29, in which pydantic builds a converter for each parameter on first use: 0.1 s for
    the first one. A Typer without these names is left unchanged.
    """
    build = getattr(_PARAMETER, "get_runtime_param", None)
    if build is None or getattr(build, "is_ours", False):
        return

    def converter(parameter: Any) -> Any:
        return parameter._runtime_param or _Plain(build)

    converter.is_ours = True  # type: ignore[attr-defined]  # asked above
    _PARAMETER.get_runtime_param = converter


class _Plain:
    """Replaces a parameter's converter until a value needs the real one."""

    def __init__(self, build: Any) -> None:
        self._build = build

    def coerce(self, value: Any, param: Any, ctx: Any) -> Any:
        several = param.multiple or param.nargs == -1
        if value is None:
            return () if several else None
        about = param.type_descriptor
        if about.parameter_info.parser is None:
            plain = _several(value, about.annotation) if several else _one(value, about)
            if plain is not _OTHER:
                return plain
        return self._build(param).coerce(value, param=param, ctx=ctx)


def _one(value: Any, about: Any) -> Any:
    """What Typer would return for the value if that is obvious, else _OTHER."""
    kind = about.annotation
    if kind is str and isinstance(value, str):
        return value
    if kind is int or kind is float:
        return _number(value, kind, about.parameter_info)
    if get_origin(kind) is Literal and isinstance(value, str) and value in get_args(kind):
        return value
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((member for member in kind if value is member or value == member.value), _OTHER)
    return _OTHER


def _number(value: Any, kind: type[int] | type[float], stated: Any) -> Any:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _MOST_DIGITS:
        value = kind(value)
    if type(value) is not kind:
        return _OTHER
    fits = (stated.min is None or value >= stated.min) and (stated.max is None or value <= stated.max)
    return value if fits else _OTHER


def _several(values: Any, kind: Any) -> Any:
    if get_origin(kind) is not list or not isinstance(values, list | tuple):
        return _OTHER
    texts = get_args(kind) == (str,) and all(isinstance(value, str) for value in values)
    return list(values) if texts or not values else _OTHER
