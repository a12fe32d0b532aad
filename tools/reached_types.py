"""The types of data that calls return: what a reader of a signature wants to look up."""

from __future__ import annotations

import dataclasses
import inspect
import typing
from collections.abc import Callable
from enum import Enum
from typing import Any, NewType, TypeVar, is_typeddict

from pydantic import BaseModel

from penstock.settings import Settings
from tools import named_types, signatures
from tools.class_members import Attribute, Method

Members = Callable[[type], tuple[list[Attribute], list[Method]]]


@dataclasses.dataclass(slots=True)
class Reached:
    classes: list[type]
    aliases: dict[str, str]
    """Names of literals, unions and ids with what they stand for."""


def reached(things: list[Any], members: Members, known: list[Any]) -> Reached:
    """What the signatures of these name, and the fields of what they name; not what is `known`."""
    found = Reached([], {})
    waiting = list(things)
    while waiting:
        thing = waiting.pop(0)
        for text, module in _texts(thing, members):
            for name, named in named_types.named_in(text, module):
                if named in known or named in found.classes:
                    continue
                if _is_data(named):
                    found.classes.append(named)
                    waiting.append(named)
                elif _is_alias(named):
                    found.aliases[name] = alias(named)
    return found


def alias(thing: Any) -> str:
    """What a name for a type stands for."""
    if isinstance(thing, NewType):
        return signatures.annotation(thing.__supertype__)
    return signatures.annotation(thing)


def _texts(thing: Any, members: Members) -> list[tuple[str, str]]:
    if inspect.isclass(thing):
        if thing is Settings or issubclass(thing, BaseException | Enum):
            return []
        attributes, methods = members(thing)
        own = [(each.type, each.module) for each in attributes]
        return own if _is_data(thing) else [*own, *((each.signature, each.module) for each in methods)]
    if inspect.isfunction(inspect.unwrap(thing)):
        return [(signatures.shown("", thing), inspect.unwrap(thing).__module__)]
    return []


def _is_data(thing: Any) -> bool:
    if not inspect.isclass(thing) or not thing.__module__.startswith("penstock.") or thing is Settings:
        return False
    if is_typeddict(thing) or issubclass(thing, Enum | BaseModel):
        return True
    return dataclasses.is_dataclass(thing)


def _is_alias(thing: Any) -> bool:
    """A literal, a union or an id of ours."""
    if inspect.isclass(thing) or isinstance(thing, TypeVar) or thing in vars(typing).values():
        return False
    home = getattr(thing, "__module__", "typing")
    return home in ("types", "typing") or home.startswith("penstock.")
