"""Connecting a mailbox subscribes it and gives it the sweep; disconnecting drops the subscription first."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from penstock.model import SourceId
from penstock.sources.errors import TokenRejected
from penstock.sources.gmail.provider import GmailProvider
from penstock.sources.protocol import OpenSource
from tests.integration.connecting_sources import Connections, connections
from tests.plugins.database import Database
from tests.plugins.pushed_source import PushedProvider, live_subscription
from tests.plugins.workers import eventually

PUSH = {
    "public_url": "http://localhost:8000",
    "gmail_push_topic": "projects/p/topics/t",
    "gmail_push_service_account": "push@p.iam.gserviceaccount.com",
}


@dataclass
class PushedGmail(GmailProvider):
    """The real Gmail, but for its subscriptions."""

    mailbox: PushedProvider = field(default_factory=PushedProvider)
    tokens: list[str | None] = field(default_factory=list)

    @asynccontextmanager
    async def open_mailbox(self, source: OpenSource) -> AsyncIterator[PushedProvider]:
        self.tokens.append(source.access_token)
        yield self.mailbox


@asynccontextmanager
async def connected(database: Database, folder: Path) -> AsyncIterator[tuple[Connections, PushedGmail]]:
    provider = PushedGmail()
    options: dict[str, Any] = {**PUSH, "providers": {"gmail": provider}}
    async with connections(database, folder, **options) as here:
        async with here.works.working():
            pass  # the task types are declared
        yield here, provider


async def subscribed(here: Connections, source_id: SourceId) -> None:
    async with here.works.database.connect("admin") as admin:

        async def is_live() -> bool:
            live = await live_subscription(admin, source_id)
            return live is not None and live["created_at"] is not None

        await eventually(is_live, within=60)


async def test_a_connected_mailbox_is_subscribed_at_once_with_its_own_token(
    database: Database, tmp_path: Path
) -> None:
    async with connected(database, tmp_path) as (here, provider):
        source_id = await here.connect("gmail")
        source = await here.source(source_id)
        assert source["address"] == source["name"].lower()
        assert "@" in source["address"]
        assert source["sync_every"].total_seconds() == 600
        async with here.works.working():
            await subscribed(here, source_id)
        assert provider.tokens == [await here.token(source_id)]
        assert [target for target, _ in provider.mailbox.created] == ["projects/p/topics/t"]


async def test_the_subscription_is_dropped_before_the_grant_is_revoked(
    database: Database, tmp_path: Path
) -> None:
    async with connected(database, tmp_path) as (here, provider):
        source_id = await here.connect("gmail")
        async with here.works.working():
            await subscribed(here, source_id)
        (grant,) = here.simulators.gmail.oauth.grants.grants
        # Its access token has expired meanwhile: it is refreshed once more, only for this.
        provider.mailbox.failures = [TokenRejected("Gmail")]
        await here.works.engine.sources.disconnect(here.works.tenant_id, source_id, documents="keep")
        refreshes = here.refreshes("gmail")
        async with here.works.working():
            await eventually(
                lambda: here.works.value(
                    "select count(*) = 1 from ingest.revocation where ended_at is not null"
                ),
                within=60,
            )
        assert provider.mailbox.dropped == ["sub-1"]
        assert grant.revoked
        assert here.refreshes("gmail") == refreshes + 1
        assert await here.works.value("select end_reason from ingest.subscription") == "disconnected"


async def test_a_subscription_that_cannot_be_dropped_does_not_keep_the_grant(
    database: Database, tmp_path: Path
) -> None:
    async with connected(database, tmp_path) as (here, provider):
        source_id = await here.connect("gmail")
        async with here.works.working():
            await subscribed(here, source_id)
        provider.mailbox.failures = [TokenRejected("Gmail"), TokenRejected("Gmail")]
        await here.works.engine.sources.disconnect(here.works.tenant_id, source_id, documents="keep")
        async with here.works.working():
            await eventually(
                lambda: here.works.value(
                    "select count(*) = 1 from ingest.revocation where outcome = 'revoked'"
                ),
                within=60,
            )
        assert provider.mailbox.dropped == []
