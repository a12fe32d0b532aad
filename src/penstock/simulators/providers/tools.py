"""Tools of a simulated MCP server: what they are called, what they take, and what they return."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final, TypeAlias

if TYPE_CHECKING:
    from penstock.simulators.providers.faults import ProviderFault


@dataclass(frozen=True, slots=True)
class ToolAnswer:
    """Structured content (or none), text blocks, and whether it is an error."""

    texts: tuple[str, ...]
    structured: Any = None
    is_error: bool = False


class ToolFailed(Exception):
    """The tool answers with isError and this text."""


Run: TypeAlias = Callable[[Mapping[str, Any]], ToolAnswer]


@dataclass(frozen=True, slots=True)
class Tool:
    """One tool; `scopes`: one of them is needed."""

    name: str
    description: str
    run: Run
    properties: Mapping[str, Any]
    required: Sequence[str] = ()
    output: Mapping[str, Any] | None = None
    scopes: frozenset[str] = field(default_factory=frozenset)
    plain_errors: str | None = None
    """If set, errors are ordinary text that begins with this, and isError stays false."""

    def refused(self, why: str) -> ToolAnswer:
        """The tool's answer to a call that failed."""
        if self.plain_errors is not None:
            return ToolAnswer((f"{self.plain_errors}: {why}",))
        return failed(why)

    def schema(self, without: frozenset[str] = frozenset()) -> dict[str, Any]:
        """The input schema, possibly without some of its arguments."""
        return {
            "type": "object",
            "properties": {
                name: deepcopy(kind) for name, kind in self.properties.items() if name not in without
            },
            "required": [name for name in self.required if name not in without],
        }


_TYPES: Final[dict[str, tuple[type, ...]]] = {
    "string": (str,),
    "integer": (int,),
    "boolean": (bool,),
    "array": (list,),
    "object": (dict,),
}


def wrong_argument(tool: Tool, arguments: Mapping[str, Any]) -> str | None:
    """What is wrong with the arguments by the tool's schema, in the words of the SDK's servers."""
    for name in tool.required:
        if arguments.get(name) is None:
            return f"Input validation error: '{name}' is a required property"
    for name, value in arguments.items():
        schema = tool.properties.get(name)
        if schema is None or value is None:
            continue
        kinds = _TYPES.get(schema.get("type", ""))
        if kinds is not None and (not isinstance(value, kinds) or (kinds == (int,) and value is True)):
            return f"Input validation error: {value!r} is not of type '{schema['type']}' ({name})"
        if value not in schema.get("enum", [value]):
            return f"Input validation error: {value!r} is not one of {schema['enum']} ({name})"
        items = _TYPES.get(schema.get("items", {}).get("type", ""))
        if items is not None and not all(isinstance(each, items) for each in value):
            return f"Input validation error: items of {name} are not of type '{schema['items']['type']}'"
    return None


def structured(value: dict[str, Any]) -> ToolAnswer:
    """A result as structured content, and the same as text for clients that do not read it."""
    return ToolAnswer((json.dumps(value, ensure_ascii=False, separators=(",", ":")),), value)


def failed(text: str) -> ToolAnswer:
    return ToolAnswer((text,), is_error=True)


def string(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "string", "description": description, **more}


def integer(description: str, **more: Any) -> dict[str, Any]:
    return {"type": "integer", "description": description, **more}


def boolean(description: str) -> dict[str, Any]:
    return {"type": "boolean", "description": description}


def array(items: Mapping[str, Any], description: str, **more: Any) -> dict[str, Any]:
    return {"type": "array", "items": dict(items), "description": description, **more}


def object_schema(**properties: Any) -> dict[str, Any]:
    """An output schema whose properties are all optional, as the vendors' are."""
    return {"type": "object", "properties": properties}


def whole_number(arguments: Mapping[str, Any], name: str, default: int, most: int) -> int:
    """An argument from 1 to `most`; ToolFailed otherwise."""
    value = arguments.get(name)
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int) or not 1 <= value <= most:
        raise ToolFailed(f"Invalid value for {name}: {value!r}. It must be a number from 1 to {most}.")
    return value


def skipped(arguments: Mapping[str, Any]) -> int:
    """The argument `offset`, 0 or more; ToolFailed otherwise."""
    value = arguments.get("offset") or 0
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise ToolFailed(f"Invalid value for offset: {value!r}. It must be 0 or more.")
    return value


def spoiled(result: ToolAnswer, fault: ProviderFault, tool: Tool) -> ToolAnswer:
    """The result of a call that a fault was planned for."""
    match fault.kind:
        case "tool_error":
            return tool.refused(fault.message)
        case "prose":
            said = [
                f"Sure! Here is what I found:\n\n```json\n{text}\n```\nLet me know if you need more."
                for text in result.texts
            ]
            return ToolAnswer(tuple(said), is_error=result.is_error)
        case "mismatch":
            wrong = dict.fromkeys((tool.output or {}).get("properties", {"results": {}}), 7)
            return ToolAnswer(result.texts, wrong)
        case "huge":
            first = result.texts[0] + " " * max(0, fault.size - len(result.texts[0]))
            padded = result.structured
            if isinstance(padded, dict):
                padded = {**padded, "padding": "x" * fault.size}
                first = result.texts[0]
            return ToolAnswer((first, *result.texts[1:]), padded, result.is_error)
        case _:
            return result
