"""Turns notifications into wanted syncs; a notification only wakes, data enters only by reading."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Final
from uuid import UUID

from penstock.sources.mail.lookups import Lookups
from penstock.sources.mail.push import GMAIL, OUTLOOK

if TYPE_CHECKING:
    from penstock.db.tenancy import TenantPool
    from penstock.sources.mail.notifications import OutlookNotification

LOOK_UP: Final = "select all_tenants.look_up_notifications($1, $2, $3)"
BY_SUBSCRIPTION: Final = "select all_tenants.wake_by_subscription($1, $2, $3, $4)"
BY_ACCOUNT: Final = "select source_id, outcome, more from all_tenants.wake_by_account($1, $2, $3)"

AT_ONCE: Final = 500
"""Notifications that one statement looks up."""
WRITERS: Final = 4
"""Connections that wake at the same time; a locked source must not take all of the pool."""


class WakeUps:
    """Reads for many notifications at once; each that writes is a statement of its own.

    So two requests never wait for each other's rows, and a flood of notifications about a few mailboxes costs
    a few statements.
    """

    def __init__(self, tenants: TenantPool) -> None:
        self._tenants = tenants
        self._lookups: Lookups[OutlookNotification, str | None] = Lookups(self._look_up, AT_ONCE)
        self._writing: dict[OutlookNotification, asyncio.Task[str]] = {}
        self._writers = asyncio.Semaphore(WRITERS)

    async def outlook(self, notifications: Sequence[OutlookNotification]) -> list[str]:
        """What each led to, `forged` among them; see all_tenants.wake_by_subscription()."""
        return await asyncio.gather(*map(self._outlook, notifications))

    async def _outlook(self, notification: OutlookNotification) -> str:
        while True:
            found = await self._lookups.find(notification)
            if found is not None:
                return found
            writing = self._writing.get(notification)
            if writing is None:
                return await self._write(notification)
            # It may have looked before this one arrived; afterwards it is most likely covered.
            await asyncio.wait((writing,))

    async def _look_up(self, notifications: Sequence[OutlookNotification]) -> list[str | None]:
        async with self._tenants.all_tenants() as conn:
            found: list[str | None] = await conn.fetchval(
                LOOK_UP,
                OUTLOOK,
                [each.subscription_id for each in notifications],
                [each.client_state_sha256 for each in notifications],
            )
        # About its subscription, which the look-up does not do anything about.
        return [
            None if each.event is not None and outcome == "pending" else outcome
            for each, outcome in zip(notifications, found, strict=True)
        ]

    async def _write(self, notification: OutlookNotification) -> str:
        task = asyncio.create_task(self._wake(notification))
        self._writing[notification] = task
        task.add_done_callback(lambda _: self._writing.pop(notification))
        return await asyncio.shield(task)  # others wait for it, too

    async def _wake(self, notification: OutlookNotification) -> str:
        async with self._writers, self._tenants.all_tenants() as conn:
            outcome: str = await conn.fetchval(
                BY_SUBSCRIPTION,
                OUTLOOK,
                notification.subscription_id,
                notification.client_state_sha256,
                notification.event,
            )
        return outcome

    async def gmail(self, address: str) -> list[str]:
        """What it led to, for each tenant that has connected this mailbox."""
        outcomes = []
        after: UUID | None = None
        async with self._tenants.all_tenants() as conn:
            while True:
                row = await conn.fetchrow(BY_ACCOUNT, GMAIL, address, after)
                assert row is not None
                outcomes.append(row["outcome"])
                if not row["more"]:
                    return outcomes
                after = row["source_id"]
