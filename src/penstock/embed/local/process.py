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
from penstock.sandbox.signals import send

log = get_logger(__name__)

START_SECONDS = 60.0
ANSWER_SECONDS = 120.0
END_SECONDS = 1.0
"""How long a child that closed its pipe may take to end, before it is killed."""

Answer = tuple[int, bytes]


class ChildDied(Exception):
    """The child ended before it answered; another may be started. `killed`: not by us."""

    def __init__(self, reason: str, *, killed: bool = False) -> None:
        super().__init__(reason)
        self.killed = killed


class LocalProcess:
    """Any number of exchanges at a time; the child answers searches first."""

    def __init__(self, model: str, name: str, folder: Path, *, gives_way: bool) -> None:
        self._model = model
        self._arguments = (name, str(folder))
        self._manner = (GIVES_WAY,) if gives_way else ()
        self._child: _Child | None = None
        self._starting = asyncio.Lock()

    @property
    def pid(self) -> int | None:
        return None if self._child is None else self._child.process.pid

    async def exchange(self, texts: Sequence[str], rank: int) -> tuple[bytes, int]:
        """Concatenated vectors of all texts, and the tokens read. Raises ChildDied."""
        child = await self._started()
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                kind, body = await child.ask(texts, rank)
        except TimeoutError:
            await child.end("its child gave no answer in time")
            raise ChildDied("its child gave no answer in time") from None
        if kind == OUT_OF_MEMORY:
            raise EmbedderOutOfMemory(self._model)
        if kind == REFUSED:
            raise EmbedderRefused(self._model, body.decode(), "Check the texts of this document")
        (tokens,) = TOKENS.unpack_from(body)
        return body[TOKENS.size :], tokens

    async def close(self) -> None:
        child, self._child = self._child, None
        if child is not None:
            await child.end("it was closed")

    async def _started(self) -> _Child:
        async with self._starting:
            if self._child is not None and not self._child.is_over:
                return self._child
            self._child = None
            try:
                async with asyncio.timeout(START_SECONDS):
                    self._child = await self._start()
            except (TimeoutError, OSError, EOFError) as error:
                raise ChildDied(f"its child did not start: {str(error) or 'it took too long'}") from error
            return self._child

    async def _start(self) -> _Child:
        # fmt: off
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "penstock.embed.local.child",
            *self._arguments, str(os.getpid()), *self._manner,
            stdin=PIPE, stdout=PIPE, stderr=DEVNULL, start_new_session=True,
        )
        # fmt: on
        try:
            assert process.stdout is not None
            _, kind, length = ANSWER.unpack(await process.stdout.readexactly(ANSWER.size))
            body = await process.stdout.readexactly(length)
            if kind != READY:
                raise EmbedderFailed(self._model, body.decode(), "Run: penstock doctor")
        except BaseException:
            await _end(process)
            raise
        log.debug("embedder_child_started", model=self._model, pid=process.pid)
        return _Child(process)


class _Child:
    """A running child, the requests it has not answered, and the task that reads its answers."""

    def __init__(self, process: Process) -> None:
        self.process = process
        self._number = 0
        self._asked: dict[int, asyncio.Future[Answer]] = {}
        self._reason: str | None = None
        self._reading = asyncio.create_task(self._read())

    @property
    def is_over(self) -> bool:
        return self._reading.done()

    async def ask(self, texts: Sequence[str], rank: int) -> Answer:
        if self.is_over:
            raise ChildDied("its child has ended")
        self._number += 1
        number = self._number
        answered: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._asked[number] = answered
        try:
            assert self.process.stdin is not None
            self.process.stdin.write(request(number, rank, texts))
            with contextlib.suppress(OSError):  # the reader finds out what happened
                await self.process.stdin.drain()
            return await answered
        finally:
            del self._asked[number]  # the answer to a cancelled call is dropped

    async def end(self, reason: str) -> None:
        """Kill it; calls that wait raise ChildDied."""
        self._reason = self._reason or reason
        send(self.process, signal.SIGKILL)
        await asyncio.shield(self._reading)

    async def _read(self) -> None:
        try:
            assert self.process.stdout is not None
            while True:
                number, kind, length = ANSWER.unpack(await self.process.stdout.readexactly(ANSWER.size))
                body = await self.process.stdout.readexactly(length)
                answered = self._asked.get(number)
                if answered is not None and not answered.done():
                    answered.set_result((kind, body))
        except (OSError, EOFError):
            pass  # reported to those that wait, below
        finally:
            ended_itself = self._reason is None
            if ended_itself:
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(END_SECONDS):
                        await self.process.wait()
            await _end(self.process)
            code = self.process.returncode
            died = ChildDied(
                self._reason or f"its child ended with code {code}",
                killed=ended_itself and code == -signal.SIGKILL,
            )
            for answered in self._asked.values():
                if not answered.done():
                    answered.set_exception(died)


async def _end(process: Process) -> None:
    """Kill the child and reap it; it has nothing to clean up."""
    send(process, signal.SIGKILL)
    assert process.stdin is not None
    process.stdin.close()
    await process.wait()
