"""Waits on mail servers (IDLE) and wakes the sync of a source when a mail arrives there."""

from __future__ import annotations

import asyncio
import json
import random
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Final
from uuid import UUID, uuid4

from penstock.db.connect import CONNECTION_LOST
from penstock.errors import PenstockError
from penstock.model import SourceId, TenantId
from penstock.observe import get_logger
from penstock.sources.errors import LoginRejected
from penstock.sources.imap.server import server_of
from penstock.sources.imap.session import Session, open_session
from penstock.sources.mail.config import folders_of

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.settings import Settings
    from penstock.sources.passwords import Passwords
    from penstock.sources.registry import Providers

log = get_logger(__name__)

TAKE: Final = "select * from all_tenants.take_mail_watches($1, $2, $3)"
END: Final = "select all_tenants.end_mail_watches($1)"
WAKE: Final = "select all_tenants.wake_mail_watch($1, $2, $3)"
ROUND_SECONDS: Final = 5.0
HELD_SECONDS: Final = 30.0
"""How long a watch stays a worker's that does not renew it."""
IDLE_SECONDS: Final = 25 * 60.0
"""Servers may end a connection that is silent for 29 minutes."""
WITHOUT_IDLE_SECONDS: Final = 3_600.0
FIRST_WAIT: Final = 5.0
LONGEST_WAIT: Final = 900.0


@dataclass(frozen=True, slots=True)
class Watched:
    """A mailbox that this worker waits on."""

    tenant_id: TenantId
    source_id: SourceId
    kind: str
    config: Mapping[str, Any] = field(repr=False)
    password_id: UUID
    version: str


class MailWatch:
    """A service of a worker: at most `imap_watches` connections, shared evenly between all workers."""

    def __init__(
        self,
        *,
        tenants: Callable[[], TenantPool],
        settings: Settings,
        providers: Callable[[], Providers],
        passwords: Callable[[], Passwords],
    ) -> None:
        """What it works with is open by the time it is started."""
        self._tenants = tenants
        self._settings = settings
        self._providers = providers
        self._passwords = passwords
        self._watcher_id = uuid4()
        self._going: dict[SourceId, tuple[Watched, asyncio.Task[None]]] = {}
        self._task: asyncio.Task[None] | None = None

    @property
    def watched(self) -> frozenset[SourceId]:
        return frozenset(self._going)

    async def start(self) -> None:
        if self._settings.imap_watches:
            self._task = asyncio.create_task(self._run(), name="penstock-mail-watch")

    async def stop(self) -> None:
        task, self._task = self._task, None
        if task is None:
            return
        task.cancel()
        await asyncio.wait([task])
        await self._keep({})
        try:
            async with self._tenants().all_tenants() as conn:
                await conn.execute(END, self._watcher_id)
        except Exception as error:  # noqa: BLE001  # we are stopping: others take the watches when they are over
            log.warning("mail_watch_not_ended", error=error)

    async def run_once(self) -> None:
        """Renew what is held, take what is free, and stop what is no longer ours."""
        async with self._tenants().all_tenants() as conn:
            rows = await conn.fetch(TAKE, self._watcher_id, self._settings.imap_watches, HELD_SECONDS)
        held = [Watched(**{**dict(row), "config": json.loads(row["config"])}) for row in rows]
        await self._keep({each.source_id: each for each in held})

    async def _run(self) -> None:
        renewed = asyncio.get_running_loop().time()
        while True:
            try:
                await self.run_once()
                renewed = asyncio.get_running_loop().time()
            except CONNECTION_LOST as error:
                log.throttled("database_lost", duty="mail_watch", error=error)
            except Exception as error:  # noqa: BLE001  # the next round may succeed; it is logged
                log.throttled("duty_failed", level="error", key="mail_watch", duty="mail_watch", error=error)
            if asyncio.get_running_loop().time() - renewed > HELD_SECONDS:
                await self._keep({})
            await asyncio.sleep(ROUND_SECONDS * random.uniform(0.85, 1.15))

    async def _keep(self, wanted: Mapping[SourceId, Watched]) -> None:
        ended = [
            source_id
            for source_id, (watched, _) in self._going.items()
            if source_id not in wanted or wanted[source_id].version != watched.version
        ]
        tasks = [self._going.pop(source_id)[1] for source_id in ended]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        for source_id, watched in wanted.items():
            if source_id not in self._going:
                task = asyncio.create_task(self._watch(watched), name=f"penstock-mail-watch-{source_id}")
                self._going[source_id] = (watched, task)

    async def _watch(self, watched: Watched) -> None:
        """Until it is cancelled; connection trouble is met with longer and longer waits."""
        wait = FIRST_WAIT
        while True:
            began = asyncio.get_running_loop().time()
            try:
                await self._connected(watched)
                pause = WITHOUT_IDLE_SECONDS
            except CONNECTION_LOST as error:
                log.throttled("database_lost", duty="mail_watch", error=error)
                pause = FIRST_WAIT
            except LoginRejected:
                # The sync meets the same and tells the user; then the source is not watched any more.
                await self._wake(watched, "login")
                pause = LONGEST_WAIT
            except PenstockError as error:
                if asyncio.get_running_loop().time() - began > LONGEST_WAIT:
                    wait = FIRST_WAIT
                pause, wait = wait, min(wait * 2, LONGEST_WAIT)
                log.info(
                    "mail_watch_lost",
                    source_id=str(watched.source_id),
                    reason=error.message,
                    seconds=round(pause, 1),
                )
            except Exception as error:  # one mailbox must not end the others
                log.warning("mail_watch_failed", source_id=str(watched.source_id), exc_info=error)
                pause = LONGEST_WAIT
            await asyncio.sleep(pause * random.uniform(0.85, 1.15))

    async def _connected(self, watched: Watched) -> None:
        """Wait for mails until the connection ends; return if the server does not tell of them."""
        password = await self._passwords().open(
            watched.tenant_id, watched.password_id, self._providers().get(watched.kind), watched.config
        )
        allow_private = self._settings.allow_private_addresses
        async with open_session(server_of(watched.config), password, allow_private=allow_private) as session:
            if b"IDLE" not in session.capabilities:
                log.info("mail_watch_unsupported", source_id=str(watched.source_id))
                return
            await self._idle(session, watched)

    async def _idle(self, session: Session, watched: Watched) -> None:
        """The first of the folders: a connection waits on one."""
        name = folders_of(watched.config)[0]
        if await session.examine_again(name) is None:
            return
        # A mail may have come while nobody was waiting.
        await self._wake(watched, "watch")
        log.info("mail_watch_began", source_id=str(watched.source_id))
        while True:
            if await session.idle(IDLE_SECONDS):
                await self._wake(watched, "push")

    async def _wake(self, watched: Watched, reason: str) -> None:
        async with self._tenants().all_tenants() as conn:
            is_woken = await conn.fetchval(WAKE, self._watcher_id, watched.source_id, reason)
        log.debug("mail_noticed", source_id=str(watched.source_id), reason=reason, is_woken=is_woken)
