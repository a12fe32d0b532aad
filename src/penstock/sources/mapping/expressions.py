"""JMESPath expressions of field maps, compiled once and limited to the functions of field maps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Protocol, TypeAlias

from penstock.sources.mapping.functions import FUNCTIONS

Json: TypeAlias = Any
Evaluate: TypeAlias = Callable[[Json], Json]
Node: TypeAlias = dict[str, Any]


class Interpreter(Protocol):
    def visit(self, node: Node, value: Json) -> Json: ...


class ExpressionInvalid(ValueError):
    """The text is not a JMESPath expression, or it calls an unknown function."""


@dataclass(frozen=True, slots=True)
class Expression:
    """`paths` are the fields it reads, for messages."""

    text: str
    paths: Sequence[str]
    evaluate: Evaluate = field(repr=False, compare=False)


def compile_expression(text: str) -> Expression:
    """Raises ExpressionInvalid with the reason."""
    import jmespath
    from jmespath.exceptions import JMESPathError

    try:
        tree: Node = jmespath.compile(text).parsed
    except JMESPathError as error:
        raise ExpressionInvalid(" ".join(str(error).split())) from None
    for node in _nodes(tree):
        if node["type"] == "function_expression":
            _check_call(node)
    return Expression(text, tuple(dict.fromkeys(_paths(tree))), _compiled(tree))


def _check_call(node: Node) -> None:
    name, count = node["value"], len(node["children"])
    if name not in FUNCTIONS:
        raise ExpressionInvalid(f"there is no function {name}(); the functions are {', '.join(FUNCTIONS)}")
    if count != FUNCTIONS[name][1]:
        raise ExpressionInvalid(f"{name}() takes {FUNCTIONS[name][1]} values, not {count}")


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    for child in node["children"]:
        if isinstance(child, dict):
            yield from _nodes(child)


def _names(node: Node) -> list[str] | None:
    """The names of a plain path such as properties.email."""
    match node["type"]:
        case "field":
            return [node["value"]]
        case "subexpression":
            parts = [_names(child) for child in node["children"]]
            return None if None in parts else [name for part in parts if part for name in part]
        case _:
            return None


def _paths(node: Node) -> Iterator[str]:
    if (names := _names(node)) is not None:
        yield ".".join(names)
        return
    for child in node["children"]:
        if isinstance(child, dict):
            yield from _paths(child)


def _compiled(node: Node) -> Evaluate:
    """Plain paths, calls, alternatives and objects run as closures, several times faster than the
    interpreter of the library, which does everything else."""
    if (names := _names(node)) is not None:
        return _path(names)
    children: list[Node] = node["children"]
    match node["type"]:
        case "literal":
            literal = node["value"]
            return lambda _: literal
        case "function_expression":
            call = FUNCTIONS[node["value"]][0]
            given = [_compiled(child) for child in children]
            if len(given) == 1:
                only = given[0]
                return lambda value: call(only(value))
            return lambda value: call(*[each(value) for each in given])
        case "or_expression":
            first, second = map(_compiled, children)
            return lambda value: second(value) if _is_false(found := first(value)) else found
        case "multi_select_list":
            items = [_compiled(child) for child in children]
            return lambda value: [item(value) for item in items]
        case "multi_select_dict":
            pairs = [(child["value"], _compiled(child["children"][0])) for child in children]
            return lambda value: {name: each(value) for name, each in pairs}
        case _:
            interpreter = _interpreter()
            return lambda value: interpreter.visit(node, value)


def _path(names: Sequence[str]) -> Evaluate:
    if len(names) == 1:
        name = names[0]
        return lambda value: value.get(name) if isinstance(value, dict) else None
    if len(names) == 2:
        outer, inner = names

        def two(value: Json) -> Json:
            found = value.get(outer) if isinstance(value, dict) else None
            return found.get(inner) if isinstance(found, dict) else None

        return two

    def walk(value: Json) -> Json:
        for name in names:
            if not isinstance(value, dict):
                return None
            value = value.get(name)
        return value

    return walk


def _is_false(value: Json) -> bool:
    """As JMESPath has it: 0 is true."""
    return value is None or value is False or value in ("", [], {})


@cache
def _interpreter() -> Interpreter:
    from jmespath.functions import Functions
    from jmespath.visitor import Options, TreeInterpreter

    class MapFunctions(Functions):  # type: ignore[misc]  # the library has no types
        """Only the functions of field maps."""

    # The registry of the base class fills the table from its own methods; the names of field maps replace it.
    MapFunctions.FUNCTION_TABLE = {
        name: {"function": _method(call), "signature": tuple({"types": []} for _ in range(count))}
        for name, (call, count) in FUNCTIONS.items()
    }
    found: Interpreter = TreeInterpreter(Options(custom_functions=MapFunctions()))
    return found


def _method(call: Callable[..., Json]) -> Callable[..., Json]:
    return lambda _, *given: call(*given)
