"""The child's side: greets, then runs one request after the other until its parent is gone."""

from __future__ import annotations

import ctypes
import gc
import importlib
import io
import pickle
import socket
import sys
from typing import Any

from penstock.sandbox import confine
from penstock.sandbox.frames import (
    HEADER,
    MEGABYTE,
    OUT_OF_MEMORY,
    RAISED,
    READY,
    RESULT,
    TOO_LARGE,
    Greeting,
    Request,
)

_ERROR_BYTES = MEGABYTE // 2


class _TooLarge(Exception):
    """The answer outgrew its limit while it was written."""


class _Limited(io.BytesIO):
    def __init__(self, limit: int) -> None:
        super().__init__()
        self._left = limit

    def write(self, data: Any, /) -> int:
        written = super().write(data)
        self._left -= written
        if self._left < 0:
            raise _TooLarge
        return written


def main(descriptor: int, parent: int) -> None:
    confine.die_with(parent)
    confine.give_way()
    confine.limit_process()
    confine.leave_network()
    with socket.socket(fileno=descriptor) as line:
        greeting: Greeting = pickle.loads(_read(line))  # noqa: S301  # from our parent
        sys.path[:] = greeting.path
        for module in greeting.preload:
            importlib.import_module(module)
        # What was imported stays: a collection after each call need not look at it, which took 39 ms.
        gc.collect()
        gc.freeze()
        confine.limit_memory(greeting.memory_mb)
        _send(line, READY, b"")
        while frame := _read(line):
            kind, answer = _answer(frame)
            del frame
            _send(line, kind, answer)
            del answer
            _give_back_memory()


def _answer(frame: bytes | bytearray) -> tuple[int, bytes | memoryview]:
    """Run the request; SystemExit is let through, so that who exits has crashed."""
    try:
        request: Request = pickle.loads(frame)  # noqa: S301  # from our parent
        del frame
        confine.limit_files(request.file_mb)
        result = request.function(*request.args)
        return RESULT, _pickled(result, request.output_mb)
    except MemoryError:
        return OUT_OF_MEMORY, b""
    except _TooLarge:
        return TOO_LARGE, b""
    except Exception as error:  # noqa: BLE001  # whatever the function raises is its answer
        return _raised(error)


def _pickled(result: Any, output_mb: int) -> memoryview:
    held = _Limited(output_mb * MEGABYTE)
    pickle.Pickler(held, protocol=5).dump(result)
    return held.getbuffer()


def _raised(error: Exception) -> tuple[int, bytes]:
    """The error packed, and in words for when it cannot be unpacked."""
    words = (type(error).__qualname__, str(error)[:4_096])
    try:
        packed = pickle.dumps(error)
    except Exception:  # noqa: BLE001  # whatever an error's own packing raises
        packed = b""
    return RAISED, pickle.dumps((packed if len(packed) <= _ERROR_BYTES else b"", *words))


def _give_back_memory() -> None:
    """Return freed memory to the system, so that a large call does not count against the next one."""
    gc.collect()
    if sys.platform == "linux":
        trim = getattr(ctypes.CDLL(None), "malloc_trim", None)  # glibc has it, musl has not
        if trim is not None:
            trim(0)


def _read(line: socket.socket) -> bytes | bytearray:
    """One frame, or nothing when the parent is gone."""
    header = line.recv(HEADER.size, socket.MSG_WAITALL)
    if len(header) < HEADER.size:
        return b""
    _, length = HEADER.unpack(header)
    frame = bytearray(length)
    view, at = memoryview(frame), 0
    while at < length:
        count = line.recv_into(view[at:])
        if count == 0:
            return b""
        at += count
    return frame


def _send(line: socket.socket, kind: int, answer: bytes | memoryview) -> None:
    line.sendall(HEADER.pack(kind, len(answer)))
    line.sendall(answer)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]))
