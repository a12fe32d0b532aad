"""What travels between the two processes: pickles, each with its length before it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

HEADER = struct.Struct("!BQ")
"""What kind of answer follows and how many bytes it has."""

READY, RESULT, RAISED, OUT_OF_MEMORY, TOO_LARGE = range(5)

MEGABYTE = 1_048_576


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first words to a new child: where its modules are, which to import, how much memory it has."""

    path: tuple[str, ...]
    preload: tuple[str, ...]
    memory_mb: int


@dataclass(frozen=True, slots=True)
class Request:
    """One call. Any: the function is whoever calls us's own, and mypy checks it at `Sandbox.run`."""

    function: Callable[..., Any]
    args: tuple[Any, ...]
    output_mb: int
    file_mb: int
