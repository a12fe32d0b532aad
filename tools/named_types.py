"""Finds the types that a signature names, also those that a module imports for type checkers only."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from importlib import import_module
from inspect import getsource
from typing import Any

_NAME = re.compile(r"\b[A-Z]\w+\b")
MISSING = object()


def named_in(text: str, module: str) -> Iterator[tuple[str, Any]]:
    """Each name in a signature or type with what it is."""
    for name in dict.fromkeys(_NAME.findall(re.sub(r'"[^"]*"', "", text))):
        found = _resolved(name, module)
        if found is not MISSING:
            yield name, found


def _resolved(name: str, module: str) -> Any:
    known = vars(import_module(module))
    if name in known:
        return known[name]
    home = _imported(module).get(name)
    return getattr(import_module(home), name) if home and home.startswith("penstock") else MISSING


@cache
def _imported(module: str) -> dict[str, str]:
    """The module from which each name comes."""
    tree = ast.parse(getsource(import_module(module)))
    return {
        alias.asname or alias.name: node.module
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and node.module
        for alias in node.names
    }
