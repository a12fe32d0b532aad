"""Files passed to a call by descriptor: it can open files by name only in its own folder."""

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
    """Whether it is reopened by its path; otherwise it is read by its descriptor."""
    flags: ClassVar[int] = os.O_RDONLY


@dataclass(frozen=True, slots=True)
class OutputFile:
    """In a call's arguments: a new file that it writes. The function gets a GivenFile."""

    path: Path
    flags: ClassVar[int] = os.O_RDWR | os.O_CREAT | os.O_TRUNC


@dataclass(frozen=True, slots=True)
class GivenFile:
    """What the function gets: an open descriptor, and for input a path that opens it again."""

    descriptor: int
    path: str


def given(file: GivenFile, folder: str) -> GivenFile:
    """On the child's side: a file outside its folder is reopened by its descriptor."""
    again = f"/proc/self/fd/{file.descriptor}"
    inside = os.path.dirname(file.path) == folder
    return file if inside or not os.path.exists(again) else GivenFile(file.descriptor, again)
