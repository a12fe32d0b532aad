"""Posts notifications to the addresses that asked for them, as reliably as it is told to be."""

from __future__ import annotations

import asyncio
import heapq
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field, fields
from itertools import count
from random import Random
from time import monotonic
from typing import TYPE_CHECKING, Any, Final, TypeAlias

import httpx2

if TYPE_CHECKING:
    from datetime import datetime

    from penstock.simulators.providers.ledger import Ledger

SURFACE: Final = "push"
_AT_ONCE: Final = 16


@dataclass(slots=True)
class Notice:
    """One notification on its way to an address."""

    url: str
    operation: str
    content: dict[str, Any]
    tries: int = 0
    first: float = field(default_factory=monotonic)


Request: TypeAlias = tuple[bytes, dict[str, str]]
"""The body and the headers of a POST."""


@dataclass(slots=True)
class Reliability:
    """How well notifications get through; shares are between 0 and 1."""

    lost: float = 0.0
    """This share is never sent."""
    duplicated: float = 0.0
    """This share is sent twice."""
    delay: float = 0.0
    """Seconds before each is sent."""
    jitter: float = 0.0
    """Up to this many seconds more, by chance: notifications overtake one another."""
    paused: bool = False
    """Keep all until they are released, in any order."""
    timeout: float = 3.0
    """Seconds in which the other side has to answer with 2xx."""
    first_retry: float = 1.0
    longest_retry: float = 60.0
    give_up: float = 4 * 3_600.0
    """Seconds after which a notification is given up."""
    per_post: int = 20
    """Notifications in one request; Pub/Sub always sends one."""

    def set(self, **chosen: Any) -> None:
        known = {each.name: each.type for each in fields(self)}
        for name, value in chosen.items():
            if name not in known:
                raise ValueError(f"there is no push setting {name!r}; choose one of {', '.join(known)}")
            kind = type(getattr(self, name))
            if not isinstance(value, int | float):
                raise ValueError(f"{name} must be a number or true or false, not {value!r}")
            setattr(self, name, kind(value))


class Emitter:
    """Sends what it is given, from any thread; it runs while the simulators are served."""

    def __init__(
        self,
        provider: str,
        pack: Callable[[Sequence[Notice]], Request],
        now: Callable[[], datetime],
        *,
        most: int | None = None,
    ) -> None:
        self.provider = provider
        self.reliability = Reliability()
        self.ledger: Ledger | None = None
        self.sent = self.delivered = self.lost = self.duplicated = self.given_up = 0
        self._pack = pack
        self._now = now
        self._most = most
        self._random = Random(f"push/{provider}")  # the same disorder each time
        self._numbers = count()
        self._due: list[tuple[float, int, Notice]] = []
        self._kept: list[Notice] = []
        self._posting = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._wake = asyncio.Event()

    @property
    def waiting(self) -> int:
        """Notifications that are neither delivered nor given up."""
        return len(self._due) + len(self._kept) + self._posting

    def send(self, notices: Sequence[Notice]) -> None:
        """Send these, except those that are lost, and some of them twice."""
        for notice in notices:
            if self._random.random() < self.reliability.lost:
                self.lost += 1
                continue
            copies = [notice]
            if self._random.random() < self.reliability.duplicated:
                self.duplicated += 1
                copies.append(Notice(notice.url, notice.operation, notice.content))
            for each in copies:
                if self.reliability.paused:
                    self._kept.append(each)
                else:
                    self._plan(each)
        self._waken()

    def release(self, *, shuffled: bool = True) -> int:
        """Send what was kept while it was paused; how many there were."""
        kept, self._kept = self._kept, []
        self.reliability.paused = False
        if shuffled:
            self._random.shuffle(kept)
        for notice in kept:
            self._plan(notice)
        self._waken()
        return len(kept)

    def forget(self) -> int:
        """Drop what waits; how many there were."""
        waited = len(self._due) + len(self._kept)
        self._due, self._kept = [], []
        return waited

    async def drained(self, seconds: float = 30.0) -> None:
        """Wait until nothing is on its way any more."""
        async with asyncio.timeout(seconds):
            while self.waiting:  # noqa: ASYNC110  # other threads may send, too
                await asyncio.sleep(0.005)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        self._loop, self._wake = asyncio.get_running_loop(), asyncio.Event()
        limits = httpx2.Limits(max_connections=_AT_ONCE, max_keepalive_connections=_AT_ONCE)
        # Loopback only; loading the system's certificates takes 80 ms.
        client = httpx2.AsyncClient(verify=False, limits=limits, trust_env=False)
        async with client:
            task = asyncio.create_task(self._run(client), name=f"{self.provider} notifications")
            try:
                yield
            finally:
                self._loop = None
                task.cancel()
                with suppress(asyncio.CancelledError):
                    await task

    def _plan(self, notice: Notice, after: float = 0.0) -> None:
        chosen = self.reliability
        wait = after + chosen.delay + self._random.random() * chosen.jitter
        heapq.heappush(self._due, (monotonic() + wait, next(self._numbers), notice))

    def _waken(self) -> None:
        if self._loop is not None:
            self._loop.call_soon_threadsafe(self._wake.set)

    async def _run(self, client: httpx2.AsyncClient) -> None:
        async with asyncio.TaskGroup() as posts:
            free = asyncio.Semaphore(_AT_ONCE)
            while True:
                self._wake.clear()
                for batch in self._batches():
                    await free.acquire()
                    posts.create_task(self._post(client, batch, free))
                wait = self._due[0][0] - monotonic() if self._due else None
                try:
                    async with asyncio.timeout(wait):
                        await self._wake.wait()
                except TimeoutError:
                    continue

    def _batches(self) -> list[list[Notice]]:
        """What is due now, by address, in the order it is due."""
        most = self._most or self.reliability.per_post
        now, open_ones, batches = monotonic(), dict[str, list[Notice]](), list[list[Notice]]()
        while self._due and self._due[0][0] <= now:
            notice = heapq.heappop(self._due)[2]
            self._posting += 1
            batch = open_ones.get(notice.url)
            if batch is None or len(batch) >= most:
                batch = open_ones[notice.url] = []
                batches.append(batch)
            batch.append(notice)
        return batches

    async def _post(self, client: httpx2.AsyncClient, batch: list[Notice], free: asyncio.Semaphore) -> None:
        try:
            status = await self._status(client, batch)
            for notice in batch:
                self.sent += 1
                if status is not None and 200 <= status < 300:
                    self.delivered += 1
                else:
                    self._retry(notice)
        finally:
            self._posting -= len(batch)
            free.release()
        self._waken()

    async def _status(self, client: httpx2.AsyncClient, batch: list[Notice]) -> int | None:
        url, operation = batch[0].url, batch[0].operation
        body, headers = self._pack(batch)
        entry = None
        if self.ledger is not None:
            entry = self.ledger.record(
                self._now(),
                self.provider,
                SURFACE,
                operation,
                method="POST",
                path=url,
                arguments={"notices": len(batch), "try": batch[0].tries},
            )
        try:
            async with asyncio.timeout(self.reliability.timeout):
                response = await client.post(url, content=body, headers=headers, timeout=None)
        except (TimeoutError, httpx2.HTTPError, httpx2.InvalidURL):
            return None
        if entry is not None:
            entry.status, entry.sent = response.status_code, len(body)
        return response.status_code

    def _retry(self, notice: Notice) -> None:
        notice.tries += 1
        chosen = self.reliability
        wait = min(chosen.first_retry * 2 ** (notice.tries - 1), chosen.longest_retry)
        if monotonic() + wait - notice.first > chosen.give_up:
            self.given_up += 1
            return
        heapq.heappush(self._due, (monotonic() + wait, next(self._numbers), notice))
