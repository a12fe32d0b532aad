"""Keeps one warm child process with a local model; started at the first call and again if it dies."""

from __future__ import annotations

import asyncio
import contextlib
import os
import signal
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import Sequence
from pathlib import Path

from penstock.embed.local.frames import ANSWER, GIVES_WAY, OUT_OF_MEMORY, READY, REFUSED, TOKENS, request
from penstock.errors import EmbedderFailed, EmbedderOutOfMemory, EmbedderRefused
from penstock.observe import get_logger

log = get_logger(__name__)

START_SECONDS = 60.0
ANSWER_SECONDS = 120.0


class LocalProcess:
    """One exchange at a time; the caller holds the lock."""

    def __init__(self, model: str, name: str, folder: Path, *, gives_way: bool) -> None:
        self._model = model
        self._arguments = (name, str(folder))
        self._manner = (GIVES_WAY,) if gives_way else ()
        self._process: Process | None = None
        self._number = 0
        self._head: tuple[int, int, int] | None = None

    @property
    def pid(self) -> int | None:
        return self._process.pid if self._process is not None else None

    async def exchange(self, texts: Sequence[str]) -> tuple[bytes, int]:
        """Concatenated vectors of all texts, and the tokens read; a child that died is replaced once."""
        try:
            return await self._exchange(texts)
        except _Died as died:
            log.warning("embedder_child_died", model=self._model, reason=str(died))
        try:
            return await self._exchange(texts)
        except _Died as died:
            if died.killed:  # killed twice, and not by us: most likely the kernel's OOM killer
                raise EmbedderOutOfMemory(self._model) from died
            raise EmbedderFailed(self._model, str(died)) from died

    async def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            await _end(process)

    async def _exchange(self, texts: Sequence[str]) -> tuple[bytes, int]:
        try:
            async with asyncio.timeout(START_SECONDS):
                process = await self._started()
            self._number += 1
            assert process.stdin is not None
            async with asyncio.timeout(ANSWER_SECONDS):
                process.stdin.write(request(self._number, texts))
                await process.stdin.drain()
                kind, body = await self._answer(process, self._number)
        except (TimeoutError, OSError, EOFError) as error:
            child = self._process
            reason = await self._bury(error)
            ended_itself = child is not None and isinstance(error, asyncio.IncompleteReadError)
            killed = ended_itself and child is not None and child.returncode == -signal.SIGKILL
            raise _Died(reason, killed=killed) from error
        if kind == OUT_OF_MEMORY:
            raise EmbedderOutOfMemory(self._model)
        if kind == REFUSED:
            raise EmbedderRefused(self._model, body.decode(), "Check the texts of this document")
        (tokens,) = TOKENS.unpack_from(body)
        return body[TOKENS.size :], tokens

    async def _started(self) -> Process:
        if self._process is not None:
            return self._process
        self._number, self._head = 0, None
        # fmt: off
        self._process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "penstock.embed.local.child",
            *self._arguments, str(os.getpid()), *self._manner,
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True,
        )
        # fmt: on
        kind, body = await self._answer(self._process, 0)
        if kind != READY:
            await self.close()
            raise EmbedderFailed(self._model, body.decode(), "Run: penstock doctor")
        log.debug("embedder_child_started", model=self._model, pid=self._process.pid)
        return self._process

    async def _answer(self, process: Process, number: int) -> tuple[int, bytes]:
        """The response with this number; leftovers of a cancelled call are dropped."""
        assert process.stdout is not None
        while True:
            if self._head is None:
                self._head = ANSWER.unpack(await process.stdout.readexactly(ANSWER.size))
            found, kind, length = self._head
            body = await process.stdout.readexactly(length)
            self._head = None
            if found == number:
                return kind, body

    async def _bury(self, error: Exception) -> str:
        process, self._process = self._process, None
        if process is None:
            return f"its child did not start: {error}"
        if isinstance(error, TimeoutError):
            await _end(process)
            return "its child gave no answer in time"
        await _end(process)
        return f"its child ended with code {process.returncode}"


class _Died(Exception):
    """The child died; another may be started."""

    def __init__(self, reason: str, *, killed: bool) -> None:
        super().__init__(reason)
        self.killed = killed


async def _end(process: Process) -> None:
    """Kill the child and reap it; it has nothing to clean up."""
    with contextlib.suppress(ProcessLookupError):
        process.kill()
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()
