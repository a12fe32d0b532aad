"""Wires the packages below into the public root `Penstock` and the engine behind API, MCP and commands."""

from typing import TYPE_CHECKING

from penstock.lazy import lazy

if TYPE_CHECKING:
    from penstock.engine.engine import Engine

__all__ = ["Engine"]

__getattr__, __dir__ = lazy(__name__, {"engine": ["Engine"]})
