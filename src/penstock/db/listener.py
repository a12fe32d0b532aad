"""The dedicated LISTEN connection: it reconnects automatically and detects when the connection is dead."""

from __future__ import annotations

import asyncio
import contextlib
import random
from collections.abc import Callable, Sequence
from enum import StrEnum

import asyncpg

from penstock.db.connect import CONNECTION_LOST, connect
from penstock.db.types import Connection


class ListenerState(StrEnum):
    CONNECTED = "connected"
    LOST = "lost"
    STOPPED = "stopped"


RETRIED: tuple[type[Exception], ...] = (*CONNECTION_LOST, asyncpg.PostgresError)
"""A rejected login may mean a server being set up or a password rotation: keep trying until stop()."""

OnNotify = Callable[[str, str], None]
"""Called with channel and payload, on the event loop; must not block."""

OnState = Callable[[ListenerState, Exception | None], None]
"""Called at each change. Scan once after CONNECTED: notifications sent while disconnected are lost."""


MAILBOX_CLASS = 7306574
"""Of the advisory locks that say which mailboxes have a listener; internal.mailbox_class() in SQL."""


class Listener:
    """Listens on channels until stopped; `connected` is set while the connection is up.

    With `mailbox`, it also listens on a channel of its own, whose name is this and a number. The session
    holds an advisory lock on the number, so that a sender can tell whether anybody hears it. Each connection
    has a new one.
    """

    def __init__(
        self,
        url: str,
        channels: Sequence[str],
        on_notify: OnNotify,
        on_state: OnState | None = None,
        *,
        application_name: str = "penstock listener",
        mailbox: str | None = None,
        check_seconds: float = 10.0,
        check_timeout: float = 5.0,
        first_delay: float = 0.1,
        longest_delay: float = 10.0,
    ) -> None:
        self._url = url
        self._channels = tuple(channels)
        self._on_notify = on_notify
        self._on_state = on_state
        self._application_name = application_name
        self._mailbox_name = mailbox
        self._check_seconds = check_seconds
        self._check_timeout = check_timeout
        self._first_delay = first_delay
        self._longest_delay = longest_delay
        self._task: asyncio.Task[None] | None = None
        self.connected = asyncio.Event()
        self.mailbox: int | None = None
        """The number of our own channel while connected."""

    async def start(self) -> None:
        """Start in the background; an unreachable server is not an error, the listener keeps trying."""
        if self._task is None:
            self._task = asyncio.create_task(self._run(), name="penstock-listener")

    async def stop(self) -> None:
        """Close the connection and wait until it is closed."""
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task
        self._tell(ListenerState.STOPPED, None)

    async def _run(self) -> None:
        failures = 0
        while True:
            try:
                await self._listen()
            except RETRIED as error:
                failures = 0 if self.connected.is_set() else failures + 1
                self.connected.clear()
                self._tell(ListenerState.LOST, error)
                delay = min(self._longest_delay, self._first_delay * 2.0 ** min(failures, 16))
                await asyncio.sleep(delay * random.uniform(0.5, 1.0))
            finally:
                self.connected.clear()

    async def _listen(self) -> None:
        connection = await connect(self._url, application_name=self._application_name, statement_cache_size=0)
        closed = asyncio.Event()
        connection.add_termination_listener(lambda *_: closed.set())
        try:
            for channel in self._channels:
                await connection.add_listener(channel, self._notified)
            if self._mailbox_name is not None:
                mailbox = random.randrange(1, 2**31)
                await connection.add_listener(f"{self._mailbox_name}_{mailbox}", self._delivered)
                await connection.fetchval("select pg_advisory_lock($1, $2)", MAILBOX_CLASS, mailbox)
                self.mailbox = mailbox
            self.connected.set()
            self._tell(ListenerState.CONNECTED, None)
            while not closed.is_set():
                with contextlib.suppress(TimeoutError):
                    # Not wait_for: before Python 3.12 it can swallow the cancellation of stop().
                    async with asyncio.timeout(self._check_seconds):
                        await closed.wait()
                if not closed.is_set():
                    # A half-open connection is silent for hours; only a query with a deadline finds out.
                    await connection.fetchval("select 1", timeout=self._check_timeout)
            raise ConnectionResetError("the server closed the LISTEN connection")
        finally:
            self.mailbox = None
            await _close(connection)

    def _notified(self, _connection: object, _pid: int, channel: str, payload: object) -> None:
        self._on_notify(channel, str(payload))

    def _delivered(self, _connection: object, _pid: int, _channel: str, payload: object) -> None:
        self._on_notify(str(self._mailbox_name), str(payload))

    def _tell(self, state: ListenerState, error: Exception | None) -> None:
        if self._on_state is not None:
            self._on_state(state, error)


async def _close(connection: Connection) -> None:
    """Close the connection gracefully if possible, else drop it."""
    with contextlib.suppress(*CONNECTION_LOST, asyncio.CancelledError):
        await connection.close(timeout=1)
    if not connection.is_closed():
        connection.terminate()
