"""Reads a frozen settings class from the environment and .env (decision 0025: pydantic costs 0.2 s)."""

from __future__ import annotations

import math
import os
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import NoneType, UnionType
from typing import (
    Annotated,
    Any,
    ClassVar,
    Literal,
    Self,
    TypeVar,
    Union,
    get_args,
    get_origin,
)

from penstock.errors import SettingInvalid

C = TypeVar("C", bound=Callable[..., Any])

NO_DEFAULT: Any = object()
TRUE = frozenset({"1", "true", "t", "yes", "y", "on"})
FALSE = frozenset({"0", "false", "f", "no", "n", "off"})


@dataclass(frozen=True, slots=True)
class Field:
    """Bounds of a number, the default if the class gives none, and whether `repr` shows the value."""

    default: Any = NO_DEFAULT
    ge: float | None = None
    gt: float | None = None
    le: float | None = None
    lt: float | None = None
    allow_inf_nan: bool = True
    repr: bool = True
    annotation: Any = None


def field_validator(*names: str, mode: Literal["before", "after"] = "after") -> Callable[[C], C]:
    """Mark a class method that returns the value of these fields or raises ValueError."""

    def mark(method: C) -> C:
        method.__func__.checks = (names, mode)  # type: ignore[attr-defined]  # a class method
        return method

    return mark


def model_validator(*, mode: Literal["after"]) -> Callable[[C], C]:
    """Mark a method that checks the settings as a whole."""

    def mark(method: C) -> C:
        method.checks_all = mode  # type: ignore[attr-defined]  # read by FromEnvironment
        return method

    return mark


class FromEnvironment:
    """Each annotated attribute of a subclass is a field, set by keyword, variable, .env or default.

    The variables of `bare_names` are read without the prefix, too.
    """

    prefix: ClassVar[str] = ""
    bare_names: ClassVar[frozenset[str]] = frozenset()
    model_fields: ClassVar[Mapping[str, Field]] = {}
    model_fields_set: frozenset[str]

    def __init_subclass__(cls) -> None:
        hints = _hints(cls)
        cls.model_fields = dict(cls.model_fields) | {
            name: _field(hints[name], cls.__dict__.get(name, NO_DEFAULT))
            for name in cls.__annotations__
            if get_origin(hints[name]) is not ClassVar
        }

    def __init__(self, **values: object) -> None:
        env_file = values.pop("_env_file", ".env")
        given = {**variables(self.prefix, env_file, self.bare_names), **values}
        self._fill({name: value for name, value in given.items() if name in self.model_fields})

    @classmethod
    def model_validate(cls, values: Mapping[str, object]) -> Self:
        return cls(**values)

    def model_copy(self, *, update: Mapping[str, object]) -> Self:
        """A copy with these settings changed, checked again."""
        copy = type(self).__new__(type(self))
        copy._fill({name: getattr(self, name) for name in self.model_fields_set} | dict(update))
        return copy

    def _fill(self, given: Mapping[str, object]) -> None:
        before, after, whole = _checks(type(self))
        for name, field in self.model_fields.items():
            if name not in given:
                self.__dict__[name] = field.default
                continue
            try:
                value = before[name](given[name]) if name in before else given[name]
                value = _converted(value, field)
                self.__dict__[name] = after[name](value) if name in after else value
            except ValueError as refused:
                raise SettingInvalid(self.prefix + name.upper(), str(refused)) from None
        self.__dict__["model_fields_set"] = frozenset(given)
        for check in whole:
            check(self)

    def __setattr__(self, name: str, value: object) -> None:
        raise ValueError(f"settings are frozen; {name} cannot change. Use model_copy(update=…)")

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name, field in self.model_fields.items() if field.repr)
        return f"{type(self).__name__}({', '.join(shown)})"

    def _values(self) -> tuple[object, ...]:
        return tuple(getattr(self, name) for name in self.model_fields)


def _hints(cls: type) -> dict[str, Any]:
    """typing.get_type_hints in a third of its time: many settings share an annotation."""
    names, known = vars(sys.modules[cls.__module__]), {}
    for text in set(cls.__annotations__.values()):
        known[text] = eval(text, names) if isinstance(text, str) else text  # noqa: S307  # the class's own source
    return {name: known[text] for name, text in cls.__annotations__.items()}


def _field(hint: Any, default: object) -> Field:
    """The field for a type hint, Annotated or not; the class's default overrides the Field's."""
    stated = next((part for part in get_args(hint)[1:] if isinstance(part, Field)), Field())
    plain = get_args(hint)[0] if get_origin(hint) is Annotated else hint
    if default is NO_DEFAULT:
        default = stated.default
    if default is NO_DEFAULT:
        raise TypeError(f"a setting needs a default: {hint}")
    bounds = (stated.ge, stated.gt, stated.le, stated.lt, stated.allow_inf_nan, stated.repr)
    return Field(default, *bounds, annotation=plain)


def _checks(cls: type) -> tuple[dict[str, Any], dict[str, Any], list[Any]]:
    before: dict[str, Any] = {}
    after: dict[str, Any] = {}
    whole: list[Any] = []
    inherited = [pair for each in reversed(cls.__mro__) for pair in vars(each).items()]
    for name, attribute in inherited:
        if hasattr(attribute, "checks_all"):
            whole.append(attribute)
        marked = getattr(getattr(attribute, "__func__", None), "checks", None)
        if marked is not None:
            names, mode = marked
            (before if mode == "before" else after).update(dict.fromkeys(names, getattr(cls, name)))
    return before, after, whole


def variables(prefix: str, env_file: object, bare_names: frozenset[str] = frozenset()) -> dict[str, str]:
    """Fields set by variables; an empty variable counts as unset, and the environment overrides .env."""
    found: dict[str, str | None] = {}
    if env_file is not None and os.path.isfile(str(env_file)):
        from dotenv import dotenv_values

        found.update({name.upper(): value for name, value in dotenv_values(str(env_file)).items()})
    found.update({name.upper(): value for name, value in os.environ.items() if value})
    start = prefix.upper()
    bare = {name: value for name in bare_names if (value := found.get(name.upper()))}
    return bare | {
        name[len(start) :].lower(): value for name, value in found.items() if name.startswith(start) and value
    }


def _converted(value: object, field: Field) -> object:
    """The value converted to the field's type and within its bounds; ValueError says what it must be."""
    kinds = (
        get_args(field.annotation)
        if get_origin(field.annotation) in (Union, UnionType)
        else (field.annotation,)
    )
    if value is None:
        if NoneType in kinds:
            return None
        raise ValueError("it must have a value")
    kind = next(each for each in kinds if each is not NoneType)
    if get_origin(kind) is Annotated:
        field = _field(kind, None)
        kind = field.annotation
    return _bounded(_typed(value, kind), field)


def _typed(value: object, kind: Any) -> object:
    if get_origin(kind) is Literal:
        if value not in get_args(kind):
            raise ValueError(f"it must be one of {', '.join(map(str, get_args(kind)))}")
        return value
    if get_origin(kind) in (list, tuple):
        parts = [part.strip() for part in value.split(",")] if isinstance(value, str) else value
        assert isinstance(parts, list | tuple)
        return get_origin(kind)(_typed(part, get_args(kind)[0]) for part in parts if part != "")
    if kind is bool:
        word = str(value).strip().lower()
        if word not in TRUE | FALSE:
            raise ValueError("it must be true or false")
        return word in TRUE
    if kind is Path and isinstance(value, str | os.PathLike):
        return Path(value)
    if kind is str and isinstance(value, str):
        return value
    if kind in (int, float) and isinstance(value, int | float | str):
        return _number(value, kind)
    raise ValueError(f"it must be of type {getattr(kind, '__name__', kind)}")


def _number(value: float | str, kind: type[int] | type[float]) -> float:
    try:
        number = kind(value)
    except (ValueError, OverflowError):
        number = None
    if number is None or (isinstance(value, float) and number != value and not math.isnan(value)):
        raise ValueError("it must be a whole number" if kind is int else "it must be a number")
    return number


def _bounded(value: object, field: Field) -> object:
    if not isinstance(value, int | float) or isinstance(value, bool):
        return value
    if not field.allow_inf_nan and not math.isfinite(value):
        raise ValueError("it must be a finite number")
    for limit, fits, words in (
        (field.ge, field.ge is None or value >= field.ge, "at least"),
        (field.gt, field.gt is None or value > field.gt, "more than"),
        (field.le, field.le is None or value <= field.le, "at most"),
        (field.lt, field.lt is None or value < field.lt, "less than"),
    ):
        if not fits:
            raise ValueError(f"it must be {words} {limit:,}")
    return value
