"""One call in its own process: confines itself, runs the function, writes the result and exits."""

from __future__ import annotations

import os
import signal
import sys
import tempfile
import traceback
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from penstock.sandbox import confine
from penstock.sandbox.calls import error_packed, packed
from penstock.sandbox.files import GivenFile, given
from penstock.sandbox.frames import (
    HEADER,
    MEGABYTE,
    OUT_OF_MEMORY,
    RAISED,
    RESULT,
    TOO_LARGE,
    Request,
)
from penstock.sandbox.layers import Layers

_REFUSED_TO_START = 70


class OutputTooLarge(Exception):
    """The result, or an output file, exceeds its limit."""


@dataclass(frozen=True, slots=True)
class SandboxCall:
    function: Callable[..., Any]
    arguments: list[Any]
    answers: int
    files: tuple[int, ...]
    request: Request
    memory_mb: int
    layers: Layers
    read: tuple[str, ...]
    user: tuple[int, int] | None
    keeps_reading: bool


def run_and_exit(call: SandboxCall) -> NoReturn:
    """Never returns into the server's code in this process."""
    code = _REFUSED_TO_START
    try:
        _enclose(call)
        code = 1
        _answer(call)
        code = 0
    except SystemExit as left:
        code = left.code if isinstance(left.code, int) else 1
    except BaseException:  # noqa: BLE001  # not enclosed, the parent is gone, or no memory to say anything
        traceback.print_exc()
    finally:
        os._exit(code)


def _enclose(call: SandboxCall) -> None:
    signal.set_wakeup_fd(-1)
    signal.signal(signal.SIGCHLD, signal.SIG_DFL)
    _close_all_but({0, 1, 2, call.answers, *call.files})
    os.chdir(call.request.folder)
    os.environ["TMPDIR"] = call.request.folder
    os.environ["XDG_CACHE_HOME"] = os.path.join(call.request.folder, "cache")
    tempfile.tempdir = None
    confine.limit_memory(call.memory_mb)
    confine.limit_files(call.request.file_mb)
    confine.enclose(
        call.layers,
        read=call.read,
        folder=call.request.folder,
        descriptors=call.files,
        user=call.user,
        keeps_reading=call.keeps_reading,
    )


def _answer(call: SandboxCall) -> None:
    limit = call.request.output_mb * MEGABYTE
    arguments = [
        given(one, call.request.folder) if isinstance(one, GivenFile) else one for one in call.arguments
    ]
    try:
        result = call.function(*arguments)
        body = packed(result)
        _send(call.answers, *((RESULT, body) if len(body) <= limit else (TOO_LARGE, b"")))
    except MemoryError:
        _send(call.answers, OUT_OF_MEMORY, b"")
    except OutputTooLarge:
        _send(call.answers, TOO_LARGE, b"")
    except Exception as error:  # noqa: BLE001  # whatever the function raises is its answer
        _send(call.answers, RAISED, error_packed(error))


def _send(answers: int, kind: int, body: bytes) -> None:
    for part in (HEADER.pack(kind, len(body)), body):
        view = memoryview(part)
        while view:
            view = view[os.write(answers, view) :]


def _close_all_but(kept: set[int]) -> None:
    first = 0
    for descriptor in (*sorted(kept), confine.OPEN_FILES):
        if descriptor > first:  # an empty range closes everything
            os.closerange(first, descriptor)
        first = descriptor + 1


assert sys.platform != "win32"
