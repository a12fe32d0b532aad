"""The public members of a class: methods with signatures, attributes with types, and what is said of each."""

from __future__ import annotations

import ast
import inspect
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from enum import Enum
from functools import cache, cached_property
from typing import Any

from tools import signatures


@dataclass(frozen=True, slots=True)
class Method:
    name: str
    signature: str
    text: str
    module: str
    """Where the names in its signature are known."""


@dataclass(frozen=True, slots=True)
class Attribute:
    name: str
    type: str
    text: str
    module: str


def methods(holder: type) -> list[Method]:
    """In the order they are written, those of the base classes first."""
    found: dict[str, Method] = {}
    for base in _ours(holder):
        for name, member in vars(base).items():
            function = member.__func__ if isinstance(member, staticmethod | classmethod) else member
            is_public = not name.startswith("_") or (name == "__call__" and not issubclass(base, Enum))
            if is_public and inspect.isfunction(function):
                found[name] = Method(
                    name, signatures.shown(name, function), said(function), function.__module__
                )
    return list(found.values())


def attributes(holder: type) -> list[Attribute]:
    """Annotated fields, what the constructor sets, and properties."""
    found: dict[str, Attribute] = {}
    for base in _ours(holder):
        for each in (*_written(base), *_properties(base)):
            if not each.name.startswith("_"):
                found[each.name] = each
    return list(found.values())


def said(thing: object) -> str:
    """The docstring, a paragraph per line; nothing if it is inherited."""
    own = thing.__dict__.get("__doc__") if inspect.isclass(thing) else getattr(thing, "__doc__", None)
    told = inspect.cleandoc(own or "")
    if inspect.isclass(thing) and told.startswith(f"{thing.__name__}("):  # what @dataclass writes by itself
        return ""
    return "\n".join(" ".join(paragraph.split()) for paragraph in told.split("\n\n"))


def _ours(holder: type) -> list[type]:
    return [base for base in reversed(holder.__mro__) if base.__module__.startswith("penstock.")]


def _properties(base: type) -> Iterator[Attribute]:
    for name, member in vars(base).items():
        getter: Any = None
        if isinstance(member, property):
            getter = member.fget
        elif isinstance(member, cached_property):
            getter = member.func
        if getter is not None:
            told = inspect.signature(getter).return_annotation
            yield Attribute(name, signatures.annotation(told), said(getter), getter.__module__)


@cache
def _written(base: type) -> tuple[Attribute, ...]:
    """The attributes in the class body and in `__init__`, each with the string under it."""
    return tuple(_read(base))


def _read(base: type) -> Iterator[Attribute]:
    tree = ast.parse(textwrap.dedent(inspect.getsource(base))).body[0]
    assert isinstance(tree, ast.ClassDef)
    yield from _assigned(tree.body, None, base.__module__)
    for node in tree.body:
        if isinstance(node, ast.FunctionDef) and node.name == "__init__":
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            types = {each.arg: ast.unparse(each.annotation) for each in arguments if each.annotation}
            yield from _assigned(node.body, types, base.__module__)


def _assigned(body: list[ast.stmt], types: dict[str, str] | None, module: str) -> Iterator[Attribute]:
    """Of `__init__`, `types` are those of its parameters; of a class body, what is annotated counts."""
    for index, node in enumerate(body):
        match node:
            case ast.AnnAssign(target=ast.Name(id=name), annotation=told) if types is None:
                shown = ast.unparse(told)
            case ast.AnnAssign(target=ast.Attribute(value=ast.Name(id="self"), attr=name), annotation=told):
                shown = ast.unparse(told)
            case ast.Assign(targets=[ast.Attribute(value=ast.Name(id="self"), attr=name)], value=value):
                shown = _type_of(value, types or {})
            case _:
                continue
        yield Attribute(name, signatures.annotation(shown), _under(body, index), module)


def _type_of(value: ast.expr, types: dict[str, str]) -> str:
    """Of a parameter its annotation, of a call to a class that class."""
    if isinstance(value, ast.BoolOp):  # given or Default()
        return _type_of(value.values[-1], types)
    if isinstance(value, ast.Call) and isinstance(value.func, ast.Name) and value.func.id[0].isupper():
        return value.func.id
    if isinstance(value, ast.Constant):
        return type(value.value).__name__
    return types.get(value.id, "") if isinstance(value, ast.Name) else ""


def _under(body: list[ast.stmt], index: int) -> str:
    after = body[index + 1] if index + 1 < len(body) else None
    if isinstance(after, ast.Expr) and isinstance(after.value, ast.Constant):
        return " ".join(str(after.value.value).split())
    return ""
