"""A mailbox whose provider notifies us: it keeps what it was asked for, and fails as it is told."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from penstock.model import SourceId, TenantId, uuid7
from penstock.sources.mail.mailbox import Subscription, SubscriptionLost
from penstock.sources.protocol import OpenSource
from tests.plugins.documents import Works
from tests.plugins.scripted_source import ScriptedProvider

if TYPE_CHECKING:
    import httpx2

    from penstock.db import Connection


@dataclass
class PushedProvider(ScriptedProvider):
    """`life` is how long a subscription lives; `now` is the provider's clock."""

    life: timedelta = timedelta(days=7)
    now: Callable[[], datetime] = lambda: datetime.now(UTC)
    created: list[tuple[str, str]] = field(default_factory=list)
    """The target and the client state of each."""
    renewed: list[str | None] = field(default_factory=list)
    dropped: list[str | None] = field(default_factory=list)
    forgotten: set[str | None] = field(default_factory=set)
    failures: list[Exception] = field(default_factory=list)
    """What the next calls about subscriptions raise."""
    on_create: Any = None

    @asynccontextmanager
    async def open_mailbox(self, source: OpenSource) -> AsyncIterator[PushedProvider]:
        yield self

    async def create_subscription(self, callback_url: str, client_state: str) -> Subscription:
        self._fail()
        self.created.append((callback_url, client_state))
        if self.on_create is not None:
            await self.on_create()
        return self._subscription(f"sub-{len(self.created)}")

    async def renew_subscription(self, subscription: Subscription) -> Subscription:
        self._fail()
        if subscription.provider_id in self.forgotten:
            raise SubscriptionLost
        self.renewed.append(subscription.provider_id)
        return self._subscription(subscription.provider_id)

    async def drop_subscription(self, subscription: Subscription) -> None:
        self._fail()
        self.dropped.append(subscription.provider_id)

    def notification(self, **changes: Any) -> dict[str, Any]:
        """An item about the newest subscription, as Microsoft Graph sends it."""
        return {
            "subscriptionId": f"sub-{len(self.created)}",
            "clientState": self.created[-1][1],
            "changeType": "created",
            "resource": "Users/1/Messages/2",
            "tenantId": str(uuid7()),
            "resourceData": {"@odata.type": "#Microsoft.Graph.Message", "id": "2"},
            **changes,
        }

    def _subscription(self, provider_id: str | None) -> Subscription:
        return Subscription(provider_id=provider_id, expires_at=self.now() + self.life, details={"n": 1})

    def _fail(self) -> None:
        if self.failures:
            raise self.failures.pop(0)


async def add_mailbox(
    works: Works,
    kind: str = "outlook",
    *,
    tenant_id: TenantId | None = None,
    name: str = "box",
    address: str | None = None,
    subscribe: bool = True,
) -> SourceId:
    """A mailbox with its first sync asked for, and its subscription."""
    source_id = SourceId(uuid7())
    async with works.engine.tenants.transaction(tenant_id or works.tenant_id) as conn:
        await conn.execute(
            "select ingest.add_source($1, $2, $3, 'default', $3, '{}', interval '10 minutes')",
            source_id,
            kind,
            name,
        )
        if subscribe:
            await conn.execute("select ingest.request_subscription($1)", source_id)
    if address is not None:
        await works.value(
            "update ingest.source set address = $2 where source_id = $1 returning 1", source_id, address
        )
    return source_id


async def send(client: httpx2.AsyncClient, *items: dict[str, Any]) -> httpx2.Response:
    """One request of Microsoft Graph."""
    body = json.dumps({"value": items})
    return await client.post("/webhooks/outlook", content=body, headers={"content-type": "application/json"})


async def live_subscription(admin: Connection, source_id: UUID) -> dict[str, Any] | None:
    row = await admin.fetchrow(
        "select * from ingest.subscription where source_id = $1 and ended_at is null", source_id
    )
    return None if row is None else dict(row)
