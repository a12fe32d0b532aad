"""The wire format between the processes: JSON frames, each preceded by its kind and length."""

from __future__ import annotations

import struct
from dataclasses import dataclass

HEADER = struct.Struct("!BI")
"""What kind of frame follows and how many bytes it has."""

READY, RESULT, RAISED, OUT_OF_MEMORY, TOO_LARGE, ENDED = range(6)

MEGABYTE = 1_048_576
MOST_FILES = 8


@dataclass(frozen=True, slots=True)
class Greeting:
    """The first message to a new child: which modules to import, how much memory a call gets."""

    preload: tuple[str, ...]
    memory_mb: int
    folder: str
    user: tuple[int, int] | None
    """The user a call switches to, if the worker is root."""
    keeps_reading: bool
    """That user cannot read the libraries, so a call keeps the capability to read what Landlock allows."""
    left_out: tuple[str, ...] = ()
    """Layers to skip, as on a kernel that lacks them."""


@dataclass(frozen=True, slots=True)
class Request:
    """One call, without its arguments, which are sent as a JSON list."""

    function: str
    """As `module:name`."""
    path: str
    """The folder that holds the function's top-level package."""
    folder: str
    """The call's own empty folder, deleted after the call."""
    files: int
    """How many of the passed descriptors are files; the first one is for results."""
    prepare: str | None
    """A function the child runs before it forks, with the last argument: it warms caches for later calls."""
    output_mb: int
    file_mb: int
