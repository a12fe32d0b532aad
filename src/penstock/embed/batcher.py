"""Fills an embedder's batches fairly with texts of many callers and returns each caller its vectors."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field

from penstock.errors import EmbedderBusy, EmbedderFailed, EmbedderRefused, EmbedderUnavailable, PenstockError
from penstock.model.embedder import Embedded, Embedder, Purpose, Vector
from penstock.observe import get_logger

log = get_logger(__name__)

LOCAL_CONCURRENCY = 2  # so that the child is never idle between two batches
REMOTE_CONCURRENCY = 4
REMOTE_DELAY = 0.01
FIRST_WAIT, LONGEST_WAIT = 1.0, 60.0
PATIENCE = 5.0
"""Bridges a short interruption; longer outages are waited out without holding a lease."""


@dataclass(eq=False, slots=True)
class _Caller:
    """One call of `embed`: its waiting texts, the vectors so far, and the future for the result."""

    texts: Sequence[str]
    purpose: Purpose
    done: asyncio.Future[None]
    waiting: deque[int]
    vectors: list[Vector]
    missing: int
    tokens: int = 0


@dataclass(eq=False, slots=True)
class _Batch:
    purpose: Purpose
    parts: list[tuple[_Caller, int]] = field(default_factory=list)

    @property
    def texts(self) -> list[str]:
        return [caller.texts[at] for caller, at in self.parts]

    @property
    def callers(self) -> list[_Caller]:
        return list(dict.fromkeys(caller for caller, _ in self.parts))

    @property
    def is_abandoned(self) -> bool:
        return all(caller.done.done() for caller, _ in self.parts)


class Batcher:
    """Callers take turns, so that a document of thousands of chunks does not delay a small one."""

    def __init__(
        self,
        embedder: Embedder,
        *,
        concurrency: int | None = None,
        delay: float | None = None,
        patience: float = PATIENCE,
    ) -> None:
        """`patience`: how long a batch waits for an unavailable embedder before its callers get the error."""
        self._embedder = embedder
        self._concurrency = concurrency or (REMOTE_CONCURRENCY if embedder.is_remote else LOCAL_CONCURRENCY)
        self._delay = (REMOTE_DELAY if embedder.is_remote else 0.0) if delay is None else delay
        self._patience = patience
        self._lines: dict[Purpose, deque[_Caller]] = {"query": deque(), "document": deque()}
        self._running: dict[asyncio.Task[None], _Batch] = {}
        self._dispatch: asyncio.TimerHandle | None = None
        self._free_at = 0.0
        self._closed = False

    @property
    def embedder(self) -> Embedder:
        return self._embedder

    async def embed(self, texts: Sequence[str], purpose: Purpose = "document") -> Embedded:
        """Vectors of any number of texts, in order; raises what the embedder raised for these texts."""
        if self._closed:
            raise EmbedderFailed(self._embedder.model, "it was closed", "Start the process again")
        if not texts:
            return Embedded((), 0)
        caller = _Caller(
            texts=texts,
            purpose=purpose,
            done=asyncio.get_running_loop().create_future(),
            waiting=deque(range(len(texts))),
            vectors=[Vector(b"")] * len(texts),
            missing=len(texts),
        )
        self._lines[purpose].append(caller)
        self._dispatch_soon()
        try:
            await caller.done
        finally:
            self._drop(caller)
        return Embedded(tuple(caller.vectors), caller.tokens)

    async def close(self) -> None:
        """Fail waiting calls and close the embedder."""
        self._closed = True
        gone = EmbedderFailed(self._embedder.model, "it was closed")
        for line in self._lines.values():
            for caller in tuple(line):
                self._fail(caller, gone)
        for task, batch in tuple(self._running.items()):
            for caller in batch.callers:
                self._fail(caller, gone)
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._embedder.close()

    def _dispatch_soon(self) -> None:
        """Dispatch a moment later, so that simultaneous callers share a batch."""
        if self._dispatch is None:
            self._dispatch = asyncio.get_running_loop().call_later(self._delay, self._fill)

    def _fill(self) -> None:
        self._dispatch = None
        while len(self._running) < self._limit() and (batch := self._next_batch()) is not None:
            task = asyncio.create_task(self._run(batch))
            self._running[task] = batch
            task.add_done_callback(self._ended)

    def _limit(self) -> int:
        """A local model has a place that is kept for searches."""
        search = bool(self._lines["query"]) and not self._embedder.is_remote
        return self._concurrency + (1 if search else 0)

    def _ended(self, task: asyncio.Task[None]) -> None:
        batch = self._running.pop(task)
        if (
            not task.cancelled() and (error := task.exception()) is not None
        ):  # a bug of ours, not the embedder's
            for caller in batch.callers:
                self._fail(caller, error)
        if not self._closed:
            self._fill()

    def _next_batch(self) -> _Batch | None:
        """Searches first; then each waiting caller gets an equal share, repeatedly while there is space."""
        line = self._lines["query"] or self._lines["document"]
        if not line:
            return None
        batch = _Batch(line[0].purpose)
        share = max(1, self._embedder.batch_size // len(line))
        while line and (room := self._embedder.batch_size - len(batch.parts)):
            caller = line.popleft()
            for _ in range(min(share, room, len(caller.waiting))):
                batch.parts.append((caller, caller.waiting.popleft()))
            if caller.waiting:
                line.append(caller)
        return batch

    async def _run(self, batch: _Batch) -> None:
        try:
            found = await self._patiently(batch)
        except PenstockError as error:
            if len(batch.callers) > 1 and (
                isinstance(error, EmbedderRefused) or not self._embedder.is_remote
            ):
                # One text is at fault: send each caller's part alone, so that only its caller gets the error.
                for caller in batch.callers:
                    await self._run(
                        _Batch(batch.purpose, [part for part in batch.parts if part[0] is caller])
                    )
                return
            for caller in batch.callers:
                self._fail(caller, error)
            return
        if found is not None:
            self._deliver(batch, found)

    async def _patiently(self, batch: _Batch) -> Embedded | None:
        """Retry the whole batch until the embedder responds; None if no caller waits any more."""
        loop = asyncio.get_running_loop()
        give_up_at, wait = loop.time() + self._patience, FIRST_WAIT
        while not batch.is_abandoned:
            if (left := self._free_at - loop.time()) > 0:
                await asyncio.sleep(left)
                continue
            try:
                found = await self._embedder.embed(batch.texts, batch.purpose)
            except (EmbedderBusy, EmbedderUnavailable) as busy:
                pause = wait if busy.retry_after is None else busy.retry_after
                if loop.time() + pause > give_up_at:
                    raise
                self._free_at = max(self._free_at, loop.time() + pause)
                wait = min(2 * wait, LONGEST_WAIT)
                log.info("embedder_busy", model=busy.model, reason=busy.reason, seconds=round(pause, 3))
                continue
            if len(found.vectors) != len(batch.parts):
                raise EmbedderFailed(
                    self._embedder.model, f"{len(found.vectors)} vectors for {len(batch.parts)} texts"
                )
            return found
        return None

    def _deliver(self, batch: _Batch, found: Embedded) -> None:
        """Distribute vectors, and tokens in proportion to length: the embedder counts whole batches only."""
        lengths = [len(text) or 1 for text in batch.texts]
        total, so_far, given = sum(lengths), 0, 0
        for (caller, at), vector, length in zip(batch.parts, found.vectors, lengths, strict=True):
            so_far += length
            share = found.tokens * so_far // total - given
            given += share
            caller.vectors[at] = vector
            caller.tokens += share
            caller.missing -= 1
            if caller.missing == 0 and not caller.done.done():
                caller.done.set_result(None)

    def _fail(self, caller: _Caller, error: BaseException) -> None:
        self._drop(caller)
        if not caller.done.done():
            caller.done.set_exception(error)

    def _drop(self, caller: _Caller) -> None:
        """Drop the waiting texts; a running batch without other callers is cancelled."""
        caller.waiting.clear()
        if caller in self._lines[caller.purpose]:
            self._lines[caller.purpose].remove(caller)
        for task, batch in self._running.items():
            if batch.is_abandoned:
                task.cancel()
