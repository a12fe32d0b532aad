"""Tells the pages of one API process what changed: one LISTEN connection for all of them."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID, uuid4

from penstock.db.listener import Listener, ListenerState
from penstock.observe import get_logger

if TYPE_CHECKING:
    from penstock.engine.engine import Engine
    from penstock.model import TenantId

log = get_logger(__name__)

CHANGED: Final = "penstock_changed"
READY: Final = "penstock_ready"
EVERYTHING: Final = (
    "documents",
    "queues",
    "tasks",
    "dead",
    "workers",
    "sources",
    "processes",
    "operations",
    "clients",
    "keys",
    "schedules",
    "sessions",
    "views",
    "projects",
    "decisions",
    "inlets",
    "tenants",
    "audit",
)
"""What a page is told when changes may have been missed: at the start, and after a lost connection."""
_PLURALS: Final = {"document": "documents", "source": "sources", "operation": "operations"}
_TIME_MARKS: Final = "select name, mark from queues.time_marks()"
_EVERYBODY: Final = "*"
_OPERATORS: Final = "-"

DEBOUNCE_SECONDS: Final = 0.25
WATCH_SECONDS: Final = 150.0
"""How long one registration lasts: a process that was killed causes needless NOTIFYs no longer than this."""
RENEW_SECONDS: Final = 30.0
"""Then it also looks at what time alone changes; once for all pages of the process."""
LINGER_SECONDS: Final = 5.0
"""A page that is reloaded does not close the connection for the moment in between."""
POLL_SECONDS: Final = 10.0
_MOST_NAMES: Final = 200


class PageChanges:
    """One page: names pile up in a set, never in a queue, however slowly it reads."""

    def __init__(self, tenant_id: TenantId | None) -> None:
        self.tenant_id = tenant_id
        self._names: set[str] = set()
        self._told = asyncio.Event()
        self._ended = False

    def tell(self, names: Iterable[str]) -> None:
        self._names.update(names)
        if len(self._names) > _MOST_NAMES:
            self._names = {name for name in self._names if ":" not in name}
        self._told.set()

    def end(self) -> None:
        self._ended = True
        self._told.set()

    def has_ended(self) -> bool:
        return self._ended

    async def changed(self, seconds: float) -> list[str]:
        """What changed since the last call; nothing after this many seconds, or when it has ended."""
        try:
            async with asyncio.timeout(seconds):
                await self._told.wait()
        except TimeoutError:
            return []
        self._told.clear()
        names, self._names = self._names, set()
        return sorted(names)


class LiveChanges:
    """Listens while there is a subscription, and says so in the database, so that NOTIFY is sent."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._watcher_id: UUID = uuid4()
        self._subscriptions: set[PageChanges] = set()
        self._pending: dict[str, set[str]] = {}
        self._flushing: asyncio.TimerHandle | None = None
        self._running: asyncio.Task[None] | None = None
        self._lingering: asyncio.TimerHandle | None = None
        self._marks: dict[str, str] = {}
        self.closed = False
        self.listening = asyncio.Event()

    def __len__(self) -> int:
        return len(self._subscriptions)

    @contextmanager
    def subscribed(self, tenant_id: TenantId | None) -> Iterator[PageChanges]:
        """A subscription to the changes of a tenant, None for those of all."""
        page = PageChanges(tenant_id)
        self._subscriptions.add(page)
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        if self.listening.is_set():
            page.tell(EVERYTHING)  # what it has read may be older than the stream
        else:
            self._start()
        try:
            yield page
        finally:
            self._subscriptions.discard(page)
            if not self._subscriptions and not self.closed:
                self._lingering = asyncio.get_running_loop().call_later(LINGER_SECONDS, self._stop)

    def count_of(self, tenant_id: TenantId | None) -> int:
        return sum(page.tenant_id == tenant_id for page in self._subscriptions)

    def close(self) -> None:
        """End every stream at once; called when the server stops."""
        self.closed = True
        for page in self._subscriptions:
            page.end()
        self._stop()

    async def finished(self) -> None:
        """Wait until the connection is closed."""
        if self._running is not None:
            await asyncio.wait([self._running])

    def _stop(self) -> None:
        if self._lingering is not None:
            self._lingering.cancel()
            self._lingering = None
        if self._running is not None and not self._running.cancelling():
            self._running.cancel()

    def _start(self) -> None:
        """Unless it runs, or nobody is there to listen for."""
        if self._running is None and self._subscriptions and not self.closed:
            self._running = asyncio.create_task(self._run(), name="penstock-live")

    async def _run(self) -> None:
        """Until the last page is gone: listen, and renew the registration."""
        addresses = self._engine.tasks.addresses
        listener = Listener(
            addresses.listen,
            [CHANGED, READY],
            self._notified,
            self._listening,
            application_name="penstock live",
            check_seconds=60.0,
        )
        try:
            if not self._engine.settings.notify:
                await self._poll()
            await listener.start()
            await listener.connected.wait()
            while True:
                await self._renew()
                await asyncio.sleep(RENEW_SECONDS)
        finally:
            self.listening.clear()
            await listener.stop()
            await self._end()
            # Not before: another run has the same registration, which this one has just removed.
            self._running = None
            self._start()

    async def _poll(self) -> None:
        """Without NOTIFY pages look again every few seconds."""
        while True:
            await asyncio.sleep(POLL_SECONDS)
            self._put(_EVERYBODY, EVERYTHING)

    async def _renew(self) -> None:
        try:
            async with self._engine.tenants.all_tenants() as conn:
                await conn.execute(
                    "select all_tenants.watch($1, $2)", self._watcher_id, timedelta(seconds=WATCH_SECONDS)
                )
                marks = {row["name"]: row["mark"] for row in await conn.fetch(_TIME_MARKS)}
        except Exception as error:  # noqa: BLE001 - the next round may succeed; it is logged
            log.throttled("watch_failed", error=error)
            return
        if not self.listening.is_set():
            # What changed between opening the page and registering was announced to nobody.
            self._put(_EVERYBODY, EVERYTHING)
            self.listening.set()
        elif changed := [name for name, mark in marks.items() if self._marks.get(name) != mark]:
            self._put(_EVERYBODY, changed)
        self._marks = marks

    async def _end(self) -> None:
        try:
            async with asyncio.timeout(2), self._engine.tenants.all_tenants() as conn:
                await conn.execute("select all_tenants.end_watch($1)", self._watcher_id)
        except Exception as error:  # noqa: BLE001 - it expires by itself
            log.throttled("watch_failed", error=error)

    def _listening(self, state: ListenerState, error: Exception | None) -> None:
        if state is ListenerState.LOST:
            log.throttled("listener_lost", error=error)
        elif state is ListenerState.CONNECTED and self.listening.is_set():
            self._put(_EVERYBODY, EVERYTHING)

    def _notified(self, channel: str, payload: str) -> None:
        if channel == READY:  # a queue got something to claim; whose it is, it does not say
            self._put(_OPERATORS, ("queues", "tasks"))
            return
        whose, _, names = payload.partition(" ")
        self._put(whose, names.split(","))

    def _put(self, whose: str, names: Iterable[str]) -> None:
        pending = self._pending.setdefault(whose, set())
        for name in names:
            pending.add(name)
            kind, found, _ = name.partition(":")
            if found:
                pending.add(_PLURALS.get(kind, kind))
        if self._flushing is None:
            self._flushing = asyncio.get_running_loop().call_later(DEBOUNCE_SECONDS, self._flush)

    def _flush(self) -> None:
        self._flushing = None
        pending, self._pending = self._pending, {}
        everybody = pending.pop(_EVERYBODY, set())
        everything = everybody.union(*pending.values())
        for page in self._subscriptions:
            if page.tenant_id is None:
                names = everything
            else:
                names = everybody | pending.get(str(page.tenant_id), set())
            if names:
                page.tell(names)
