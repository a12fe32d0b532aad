"""The parent's side of one child: starting it, one call at a time, watching its memory, ending it."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import socket
import subprocess
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import Any

from pydantic import TypeAdapter

from penstock.sandbox.calls import answer, error_unpacked, packed
from penstock.sandbox.errors import (
    SandboxCrashed,
    SandboxError,
    SandboxFilesTooLarge,
    SandboxOutOfMemory,
    SandboxOutputTooLarge,
    SandboxRaised,
    SandboxTimeout,
)
from penstock.sandbox.folders import Folders, exceeds
from penstock.sandbox.frames import (
    ENDED,
    HEADER,
    MEGABYTE,
    OUT_OF_MEMORY,
    RAISED,
    READY,
    RESULT,
    TOO_LARGE,
    Greeting,
)
from penstock.sandbox.layers import Layers
from penstock.sandbox.memory import held_by_calls, server_below
from penstock.sandbox.request import Outgoing
from penstock.sandbox.spawn import spawn

START_SECONDS = 60.0
END_SECONDS = 10.0
"""A call must end within this after its result, or its child is replaced."""
WATCH_SECONDS = 0.05
FOLDER_SECONDS = 0.25
"""How often a call's folder is checked."""
FOLDER_FILES = 10_000
"""How many files a call may have in its folder; their size may be twice that of its largest file."""
LEFT_OUT: tuple[str, ...] = ()
"""Layers to skip: set by tests to simulate a kernel that lacks them."""
_ON_THE_LOOP = MEGABYTE // 4
"""Larger results are parsed in a thread, so that the event loop is not blocked."""
_LAYERS = TypeAdapter(Layers)
"""A child's first message."""
_ENDED = TypeAdapter(dict[str, int])
"""A child's message when a call is gone."""
_MOST_ERROR = MEGABYTE
_LAST_WORDS = 4_096
_NEAR_THE_LIMIT = 0.75
"""A process that dies using this share of its limit ran out of memory: native code often ignores malloc."""
_MEMORY_WORDS = (
    "memory allocation of",
    "bad_alloc",
    "Cannot allocate memory",
    "MemoryError",
    "out of memory",
)


class SandboxProcess:
    """A child process that serves one call at a time; after an error other than the function's
    own it is dead."""

    def __init__(self, memory_mb: int) -> None:
        self._memory_mb = memory_mb
        self.folders = Folders()
        self.layers = Layers()
        self._said = b""
        self._peak = 0
        self._too_large: SandboxFilesTooLarge | None = None
        self._server = 0
        self._dead = False
        self._idle = True
        """No call is running."""
        self._loop = asyncio.get_running_loop()
        self._process, self._line, self._words = spawn(self.folders.path)
        self._loop.add_reader(self._words, self._listen)

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def dead(self) -> bool:
        return self._dead or self._process.poll() is not None

    async def greet(self, preload: Sequence[str]) -> None:
        """Wait until it has imported its modules and tested the layers."""
        folders = self.folders
        greeting = Greeting(
            tuple(preload), self._memory_mb, folders.path, folders.user, folders.keeps_reading, LEFT_OUT
        )
        try:
            async with asyncio.timeout(START_SECONDS):
                await self._send(packed(asdict(greeting)), ())
                kind, body = await self._frame(self._line, MEGABYTE)
        except (TimeoutError, OSError, EOFError, ValueError):
            raise await self._ended(await self._exit_code()) from None
        assert kind == READY
        self.layers = _LAYERS.validate_json(body)
        self._server = server_below(self.pid) if self.layers.namespaces else self.pid

    async def run(self, call: Outgoing, seconds: float) -> Any:
        """What the function returned, or what it raised, or a SandboxError."""
        self._said, self._peak, self._too_large = b"", 0, None
        watches = [asyncio.create_task(self._watch_memory()), asyncio.create_task(self._watch_folder(call))]
        try:
            kind, body = await self._exchange(call, seconds)
            if kind == RESULT:
                return await self._read(call.function, body)
            raise self._error(kind, body, call.output_mb)
        finally:
            for watch in watches:
                watch.cancel()
            if not self._idle:  # cancelled: its result is no longer wanted
                self.kill()
            await asyncio.to_thread(self.folders.remove, call.folder)

    async def _exchange(self, call: Outgoing, seconds: float) -> tuple[int, bytearray]:
        """Send the call, receive its result, and wait until all its processes are gone."""
        descriptors = await asyncio.to_thread(call.open_files)
        ours, theirs = socket.socketpair()
        try:
            ours.setblocking(False)
            try:
                self._idle = False
                async with asyncio.timeout(seconds):
                    await self._send(call.packed(), [theirs.fileno(), *descriptors])
                    theirs.close()
                    limit = max(call.output_mb * MEGABYTE, _MOST_ERROR)
                    kind, body = await self._frame(ours, limit)
            except TimeoutError:
                raise self._killed(SandboxTimeout(seconds)) from None
            except (OSError, EOFError):
                raise await self._broken() from None
        finally:
            ours.close()
            theirs.close()
            for descriptor in descriptors:
                os.close(descriptor)
        await self._wait_until_gone()
        return kind, body

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
            await asyncio.to_thread(self.folders.close)

    async def _send(self, body: bytes, descriptors: Sequence[int]) -> None:
        header = HEADER.pack(0, len(body))
        if socket.send_fds(self._line, [header], list(descriptors)) != len(header):
            raise BrokenPipeError
        await self._loop.sock_sendall(self._line, body)

    async def _frame(self, line: socket.socket, limit: int) -> tuple[int, bytearray]:
        kind, length = HEADER.unpack(await self._receive(line, HEADER.size))
        if length > limit:
            raise self._killed(SandboxOutputTooLarge(limit // MEGABYTE))
        return kind, await self._receive(line, length)

    async def _receive(self, line: socket.socket, length: int) -> bytearray:
        """Read as it arrives: a false length allocates nothing."""
        frame = bytearray()
        while len(frame) < length:
            piece = await self._loop.sock_recv(line, min(length - len(frame), MEGABYTE))
            if not piece:
                raise EOFError
            frame += piece
        return frame

    async def _read(self, function: Callable[..., Any], body: bytearray) -> Any:
        try:
            if len(body) <= _ON_THE_LOOP:
                return answer(function, body)
            return await asyncio.to_thread(answer, function, body)
        except ValueError as error:
            first = str(error).splitlines()[0][:200]
            raise self._killed(SandboxRaised("an unreadable result", first)) from error

    def _error(self, kind: int, body: bytearray, output_mb: int) -> Exception:
        if kind == OUT_OF_MEMORY:
            return SandboxOutOfMemory(self._memory_mb)
        if kind == TOO_LARGE:
            return SandboxOutputTooLarge(output_mb)
        try:
            assert kind == RAISED
            error, name, words = error_unpacked(body)
        except (ValueError, AssertionError):
            return self._killed(SandboxRaised("an unreadable result", ""))
        return error or SandboxRaised(name, words)

    async def _wait_until_gone(self) -> int:
        """Wait until the call and all it started are gone; its exit code."""
        try:
            async with asyncio.timeout(END_SECONDS):
                kind, body = await self._frame(self._line, MEGABYTE)
        except (TimeoutError, OSError, EOFError):
            self.kill()
            return -signal.SIGKILL
        assert kind == ENDED
        self._idle = True
        return _ENDED.validate_json(body)["code"]

    async def _broken(self) -> SandboxError:
        """The connection closed without a result: find out how the call ended."""
        if not self.dead:
            code = await self._wait_until_gone()
            if self._idle:
                return self._how(code)
        return await self._ended(await self._exit_code())

    async def _exit_code(self) -> int:
        """The child's own exit code; it is exiting and gets a moment to do so."""
        try:
            return await asyncio.to_thread(self._process.wait, 1.0)
        except subprocess.TimeoutExpired:
            return -signal.SIGKILL

    async def _ended(self, code: int) -> SandboxError:
        self.kill()
        return self._how(code)

    def _how(self, code: int) -> SandboxError:
        with contextlib.suppress(OSError):
            self._listen()
        if self._too_large is not None:
            return self._too_large
        said = self._said.decode("utf-8", "replace")
        if self._peak > self._memory_mb * MEGABYTE * _NEAR_THE_LIMIT or any(
            word in said for word in _MEMORY_WORDS
        ):
            return SandboxOutOfMemory(self._memory_mb)
        return SandboxCrashed(code, said.strip().rpartition("\n")[2][:300])

    def _killed(self, error: SandboxError) -> SandboxError:
        self.kill()
        return error

    async def _watch_memory(self) -> None:
        """Kill it when a call and its children use too much: the kernel's limit is per process."""
        while True:
            self._peak = max(self._peak, held_by_calls(self._server))
            if self._peak > self._memory_mb * MEGABYTE:
                self.kill()
                return
            await asyncio.sleep(WATCH_SECONDS)

    async def _watch_folder(self, call: Outgoing) -> None:
        """Kill it when it fills its folder: the kernel limits each file, not how many there are."""
        most_mb = 2 * call.file_mb
        while True:
            await asyncio.sleep(FOLDER_SECONDS)
            if await asyncio.to_thread(exceeds, call.folder, most_mb * MEGABYTE, FOLDER_FILES):
                if not self._idle:
                    self._too_large = SandboxFilesTooLarge(most_mb, FOLDER_FILES)
                    self.kill()
                return

    def _listen(self) -> None:
        """Keep the end of its standard error."""
        with contextlib.suppress(BlockingIOError):
            heard = os.read(self._words, 65_536)
            self._said = (self._said + heard)[-_LAST_WORDS:]
            if not heard:
                self._loop.remove_reader(self._words)
