"""Files handed to a call by descriptor: its folder is the only one it can open by name."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar


@dataclass(frozen=True, slots=True)
class InputFile:
    """In a call's arguments: a file it may read. The function gets a GivenFile."""

    path: Path
    by_name: bool = True
    """Whether it is opened again by its path; without, it is read by its descriptor."""
    flags: ClassVar[int] = os.O_RDONLY


@dataclass(frozen=True, slots=True)
class OutputFile:
    """In a call's arguments: a file it fills, made anew. The function gets a GivenFile."""

    path: Path
    flags: ClassVar[int] = os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True, slots=True)
class GivenFile:
    """What the function gets: an open descriptor, and for input a path that opens it again."""

    descriptor: int
    path: str


def given(file: GivenFile, folder: str) -> GivenFile:
    """On the child's side: a file outside of its folder is opened again by its descriptor."""
    again = f"/proc/self/fd/{file.descriptor}"
    inside = os.path.dirname(file.path) == folder
    return file if inside or not os.path.exists(again) else GivenFile(file.descriptor, again)
