"""Compares a binding with the tools that a server offers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.sources.bindings.binding import Method


def mismatch(methods: Iterable[Method], tools: Mapping[str, Mapping[str, Any]]) -> str | None:
    """The first tool or argument that a method needs and the server does not offer; None if there is none."""
    for method in methods:
        if method.tool is None:
            continue
        schema = tools.get(method.tool)
        if schema is None:
            return f"the server has no tool {method.tool}, which {method.name} needs"
        properties = schema.get("properties")
        if isinstance(properties, Mapping):
            for argument in method.arguments:
                if argument not in properties:
                    return f"the tool {method.tool} has no argument {argument}"
        for argument in schema.get("required") or ():
            if argument not in method.arguments:
                return (
                    f"the tool {method.tool} needs the argument {argument}, which the binding does not give"
                )
    return None
