"""The parent's side of one child: starting it, one call at a time, watching its memory, ending it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import pickle
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from typing import Any

from penstock.sandbox.answers import unpickled
from penstock.sandbox.errors import (
    SandboxCrashed,
    SandboxError,
    SandboxOutOfMemory,
    SandboxOutputTooLarge,
    SandboxRaised,
    SandboxTimeout,
)
from penstock.sandbox.frames import (
    HEADER,
    MEGABYTE,
    OUT_OF_MEMORY,
    READY,
    RESULT,
    TOO_LARGE,
    Greeting,
    Request,
)
from penstock.sandbox.memory import held_bytes
from penstock.sandbox.spawn import spawn

START_SECONDS = 60.0
WATCH_SECONDS = 0.05
_ON_THE_LOOP = MEGABYTE
"""Answers larger than this are unpickled in a thread: the loop has heartbeats to send."""
_LAST_WORDS = 4_096
_NEAR_THE_LIMIT = 0.75
"""Who dies holding this share of its memory died of it: native code often ignores malloc's answer."""
_MEMORY_WORDS = (
    "memory allocation of",
    "bad_alloc",
    "Cannot allocate memory",
    "MemoryError",
    "out of memory",
)


class Child:
    """One process. Whoever holds it calls `run` once at a time; after an error that is not the function's
    own it is dead."""

    def __init__(self, memory_mb: int) -> None:
        self._memory_mb = memory_mb
        self._folder = tempfile.TemporaryDirectory(prefix="penstock-sandbox-", ignore_cleanup_errors=True)
        self._said = b""
        self._peak = 0
        self._dead = False
        self.runs = 0
        self._loop = asyncio.get_running_loop()
        self._process, self._line, self._words = spawn(self._folder.name)
        self._loop.add_reader(self._words, self._listen)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def dead(self) -> bool:
        return self._dead or self._process.poll() is not None

    async def greet(self, preload: Sequence[str]) -> None:
        """Tell it where its modules are and wait until it has imported them."""
        greeting = Greeting(tuple(map(os.path.abspath, sys.path)), tuple(preload), self._memory_mb)
        kind, _ = await self._exchange("its start", greeting, START_SECONDS, MEGABYTE)
        assert kind == READY

    async def run(self, request: Request, seconds: float) -> Any:
        """The function's result, or what it raised, or a SandboxError."""
        name = f"{request.function.__module__}.{request.function.__qualname__}"
        self.runs += 1
        kind, frame = await self._exchange(name, request, seconds, request.output_mb * MEGABYTE)
        if kind == OUT_OF_MEMORY:
            raise await self._ended(SandboxOutOfMemory(name, self._memory_mb))
        if kind == TOO_LARGE:
            raise SandboxOutputTooLarge(name, request.output_mb)
        try:
            if kind == RESULT:
                return await _read(frame, request.function.__module__)
            error, *words = await _read(frame, request.function.__module__)
        except Exception as refused:
            raise await self._ended(SandboxRaised(name, "what must not be read", str(refused))) from refused
        raise _revived(error, request.function.__module__) or SandboxRaised(name, *map(str, words))

    def kill(self) -> None:
        """End it and all it started, at once, without waiting."""
        if not self._dead:
            self._dead = True
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self._process.pid, signal.SIGKILL)

    async def close(self) -> None:
        """End it, reap it and remove its folder."""
        self.kill()
        await asyncio.to_thread(self._process.wait)
        if self._line.fileno() >= 0:
            self._listen()
            self._loop.remove_reader(self._words)
            os.close(self._words)
            self._line.close()
            await asyncio.to_thread(self._folder.cleanup)

    async def _exchange(
        self, name: str, message: object, seconds: float, limit: int
    ) -> tuple[int, bytearray]:
        packed = pickle.dumps(message, protocol=5)
        self._peak = 0
        watch = asyncio.create_task(self._watch_memory())
        try:
            async with asyncio.timeout(seconds):
                await self._loop.sock_sendall(self._line, HEADER.pack(0, len(packed)))
                await self._loop.sock_sendall(self._line, packed)
                del packed
                kind, length = HEADER.unpack(await self._receive(HEADER.size))
                if length > limit + MEGABYTE:  # an error may be sent where the output's limit is small
                    raise await self._ended(SandboxOutputTooLarge(name, limit // MEGABYTE))
                return kind, await self._receive(length)
        except TimeoutError:
            raise await self._ended(SandboxTimeout(name, seconds)) from None
        except (OSError, EOFError):
            raise await self._ended(None, name) from None
        except BaseException:  # cancelled in the middle: what it would answer is nobody's
            self.kill()
            raise
        finally:
            watch.cancel()

    async def _receive(self, length: int) -> bytearray:
        frame = bytearray(length)
        view, at = memoryview(frame), 0
        while at < length:
            count = await self._loop.sock_recv_into(self._line, view[at:])
            if count == 0:
                raise EOFError
            at += count
        return frame

    async def _ended(self, error: SandboxError | None, name: str = "") -> SandboxError:
        """Kill it, and say how it ended if that is not known yet."""
        if error is not None:
            self.kill()
            return error
        # It closed the line itself, so it is on its way out; give it a moment to leave its exit code.
        try:
            code = await asyncio.to_thread(self._process.wait, 1.0)
        except subprocess.TimeoutExpired:
            code = -signal.SIGKILL
        self.kill()
        with contextlib.suppress(OSError):
            self._listen()
        said = self._said.decode("utf-8", "replace")
        if self._peak > self._memory_mb * MEGABYTE * _NEAR_THE_LIMIT or any(
            word in said for word in _MEMORY_WORDS
        ):
            return SandboxOutOfMemory(name, self._memory_mb)
        return SandboxCrashed(name, code, said.strip().rpartition("\n")[2][:300])

    async def _watch_memory(self) -> None:
        """Kill it when it and what it started hold too much: the kernel's limit is per process."""
        while True:
            self._peak = max(self._peak, held_bytes(self._process.pid))
            if self._peak > self._memory_mb * MEGABYTE:
                self.kill()
                return
            await asyncio.sleep(WATCH_SECONDS)

    def _listen(self) -> None:
        """Keep the last words it writes to its standard error."""
        with contextlib.suppress(BlockingIOError):
            heard = os.read(self._words, 65_536)
            self._said = (self._said + heard)[-_LAST_WORDS:]
            if not heard:
                self._loop.remove_reader(self._words)


async def _read(frame: bytearray, home: str) -> Any:
    if len(frame) <= _ON_THE_LOOP:
        return unpickled(frame, home)
    return await asyncio.to_thread(unpickled, frame, home)


def _revived(packed: bytes, home: str) -> Exception | None:
    """The function's own error, if it can be had here."""
    try:
        error = unpickled(bytearray(packed), home)
    except Exception:  # noqa: BLE001  # an error's constructor may do anything; then words must do
        return None
    return error if isinstance(error, Exception) else None
