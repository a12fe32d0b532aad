"""What the tests run inside the sandbox: functions that really hang, crash, eat memory and misbehave."""

from __future__ import annotations

import ctypes
import os
import socket
import sys
import time
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Sum:
    total: int
    pid: int


class Unpackable(Exception):
    def __init__(self, first: str, second: str) -> None:
        super().__init__(f"{first} and {second}")


class Attack:
    """Unpickles by calling something; no answer may."""

    def __init__(self, path: str) -> None:
        self.path = path

    def __reduce__(self) -> tuple[object, ...]:
        return os.mkdir, (self.path,)


def add(*numbers: int) -> Sum:
    return Sum(sum(numbers), os.getpid())


def fail(words: str) -> None:
    raise LookupError(words)


def fail_strangely() -> None:
    raise Unpackable("one", "two")


def attack(path: str) -> Attack:
    return Attack(path)


def segfault() -> None:
    ctypes.string_at(0)


def leave(code: int) -> None:
    os._exit(code)


def hang() -> None:
    while True:
        pass


def hang_in_native_code() -> None:
    """Holds the interpreter's lock for good: no thread of this process ever runs again."""
    ctypes.PyDLL(None).sleep(1_000)


def eat(megabytes: int) -> int:
    eaten = [bytearray(os.urandom(1_048_576)) for _ in range(megabytes)]
    return len(eaten)


def eat_at_once(megabytes: int) -> int:
    return len(bytearray(megabytes * 1_048_576))


def eat_natively(megabytes: int) -> None:
    """As a library that does not check malloc's answer."""
    library = ctypes.CDLL(None)
    library.malloc.restype = ctypes.c_void_p
    for _ in range(megabytes // 8):
        ctypes.memset(library.malloc(ctypes.c_size_t(8 * 1_048_576)), 1, 8 * 1_048_576)
        time.sleep(0.005)


def eat_in_a_child(megabytes: int) -> None:
    if os.fork() == 0:
        kept = os.urandom(megabytes << 20)
        time.sleep(1_000)
        print(len(kept))
    os.wait()


def start_a_child() -> None:
    if os.fork() == 0:
        time.sleep(1_000)
    os.wait()


def speak(megabytes: int) -> str:
    return "x" * (megabytes * 1_048_576)


def chatter(kilobytes: int) -> str:
    sys.stderr.write("x" * 1_023 + "\n" * kilobytes)
    sys.stdout.write("y" * 1_024 * kilobytes)
    return "done"


def write(path: str, megabytes: int) -> None:
    with open(path, "wb") as file:
        file.write(bytes(megabytes * 1_048_576))


def write_many(files: int, megabytes: int, nested: bool = False) -> None:
    """Files of this size until somebody stops it."""
    at = "."
    for number in range(files):
        if nested:
            at = f"{at}/{number}"
            os.mkdir(at)
        with open(f"{at}/{number}.part", "wb") as file:
            file.write(bytes(megabytes * 1_048_576))
    time.sleep(60)


def environment() -> dict[str, str]:
    return dict(os.environ)


def modules() -> list[str]:
    return list(sys.modules)


def dial(port: int) -> None:
    with socket.create_connection(("127.0.0.1", port), timeout=5):
        pass


def dial_natively(port: int) -> int:
    """The kernel's answer to a program that does not go through Python's socket module."""
    library = ctypes.CDLL(None, use_errno=True)
    return ctypes.get_errno() if library.socket(socket.AF_INET, socket.SOCK_STREAM, 0) < 0 else 0


def run_a_loop() -> str:
    import asyncio

    async def answer() -> str:
        return await asyncio.to_thread(str, 5)

    return asyncio.run(answer())


def leave_a_file() -> str:
    import tempfile

    descriptor, path = tempfile.mkstemp()
    os.close(descriptor)
    return path


def parent_with_a_child(flag: str) -> None:
    """Run by a test as a whole process: starts a sandbox, lets a call hang, and waits to be killed."""
    import asyncio

    from penstock.sandbox import Sandbox

    async def hold() -> None:
        sandbox = Sandbox(1, memory_mb=256)
        await sandbox.start()
        Path(flag).write_text(str(sandbox.pids[0]))
        await sandbox.run(hang_in_native_code, seconds=100)

    asyncio.run(hold())
