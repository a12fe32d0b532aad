"""A call on its way to a child: the function by name, its arguments as JSON, its files by descriptor."""

from __future__ import annotations

import functools
import os
import shutil
import sys
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from penstock.sandbox.calls import name_of, packed
from penstock.sandbox.files import GivenFile, InputFile, OutputFile
from penstock.sandbox.frames import Request


@dataclass(frozen=True, slots=True)
class Outgoing:
    function: Callable[..., Any]
    arguments: tuple[object, ...]
    folder: str
    output_mb: int
    file_mb: int
    prepare: Callable[[Any], object] | None
    copies: bool
    """Whether it runs as another user, who cannot reach our folders: then it gets copies in its own."""

    @property
    def files(self) -> list[InputFile | OutputFile]:
        return [one for one in self.arguments if isinstance(one, (InputFile, OutputFile))]

    def open_files(self) -> list[int]:
        """A descriptor for each of its files."""
        opened: list[int] = []
        try:
            for number, file in enumerate(self.files):
                path = self._path(number, file)
                if path != file.path:
                    shutil.copyfile(file.path, path)
                    path.chmod(0o644)
                opened.append(os.open(path, file.flags | os.O_CLOEXEC, 0o600))
        except OSError:
            for descriptor in opened:
                os.close(descriptor)
            raise
        return opened

    def _path(self, number: int, file: InputFile | OutputFile) -> Path:
        copied = self.copies and isinstance(file, InputFile) and file.by_name
        return Path(self.folder) / f"input-{number}" if copied else file.path

    def packed(self) -> bytes:
        request = Request(
            function=name_of(self.function),
            path=_root_of(self.function),
            folder=self.folder,
            files=len(self.files),
            prepare=None if self.prepare is None else name_of(self.prepare),
            output_mb=self.output_mb,
            file_mb=self.file_mb,
        )
        paths = iter([str(self._path(number, file)) for number, file in enumerate(self.files)])
        values = [
            GivenFile(-1, next(paths)) if isinstance(one, (InputFile, OutputFile)) else one
            for one in self.arguments
        ]
        return packed(asdict(request) | {"arguments": values})


@functools.cache
def _root_of(function: Callable[..., Any]) -> str:
    """The folder that holds the function's top-level package; empty when it has no file."""
    module = sys.modules[function.__module__]
    path = getattr(module, "__file__", None)
    depth = function.__module__.count(".") + (1 if hasattr(module, "__path__") else 0)
    return str(Path(path).resolve().parents[depth]) if path else ""
