"""A function, class or statement in source code."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CodeUnit:
    """Where it starts, its name, and how many others are around it."""

    start: int
    name: str
    depth: int
    end: int = -1
