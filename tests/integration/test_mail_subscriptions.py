"""A mailbox stays subscribed: renewed before it expires, replaced when lost, dropped when not wanted."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from penstock.db import Connection
from penstock.model import SourceId
from penstock.queue.task_run import TaskRun
from penstock.sources.errors import ProviderUnavailable, Throttled
from penstock.sources.mail.subscribing import SubscribeSource
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.pushed_source import PushedProvider, add_mailbox, live_subscription
from tests.plugins.runs import NoRun
from tests.sql.clock import Clock

GMAIL = {
    "gmail_push_topic": "projects/p/topics/t",
    "gmail_push_service_account": "push@p.iam.gserviceaccount.com",
}


@dataclass(slots=True)
class Subscribed:
    works: Works
    provider: PushedProvider
    admin: Connection
    clock: Clock

    async def run(self, source_id: SourceId) -> None:
        """One run of the task, without a worker."""
        run: TaskRun = NoRun(self.works.tenant_id)
        await self.works.engine.subscribing(SubscribeSource(source_id=source_id), run)

    async def due(self) -> int:
        """What maintenance would start now."""
        await self.admin.execute("delete from queues.waiting")
        await self.works.engine.push_maintenance.run_once()
        return int(await self.admin.fetchval("select count(*) from queues.waiting"))

    async def live(self, source_id: SourceId) -> dict[str, Any]:
        found = await live_subscription(self.admin, source_id)
        assert found is not None
        return found

    async def health(self, source_id: SourceId) -> Any:
        return (await self.works.engine.sources.show(self.works.tenant_id, source_id)).health

    async def synced(self, source_id: SourceId) -> None:
        """As if a sync had ended well."""
        await self.admin.execute("delete from ingest.pending_sync")
        await self.admin.execute(
            "update ingest.source set synced_at = internal.clock() where source_id = $1", source_id
        )


@asynccontextmanager
async def subscribed(database: Database, folder: Path, **settings: Any) -> AsyncIterator[Subscribed]:
    provider = PushedProvider()
    chosen = {"public_url": "https://penstock.example", **settings}
    providers = {"outlook": provider, "gmail": provider}
    async with works_on(database, folder, providers=providers, **chosen) as works:
        async with works.working():
            pass  # the task types are declared
        async with database.connect("admin") as admin:
            clock = await Clock.install(admin)
            provider.now = lambda: clock.now
            yield Subscribed(works, provider, admin, clock)


async def test_a_connected_mailbox_is_subscribed_and_only_the_hash_of_its_state_is_kept(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(database, tmp_path) as here:
        source_id = await add_mailbox(here.works)
        assert (await here.health(source_id)).push.state == "none"
        await here.run(source_id)
        ((target, state),) = here.provider.created
        assert target == "https://penstock.example/webhooks/outlook"
        assert len(state) >= 43
        live = await here.live(source_id)
        assert live["provider_id"] == "sub-1"
        assert (live["expires_at"] - here.clock.now).days == 7
        dump = await here.admin.fetchval("select string_agg(u::text, ' ') from ingest.subscription u")
        assert state not in dump
        push = (await here.health(source_id)).push
        assert (push.state, push.expires_at) == ("active", live["expires_at"])
        reasons = await here.admin.fetchval("select reason from ingest.pending_sync")
        assert reasons == "added", "what arrived before the subscription is read by the sync that is wanted"


async def test_outlook_is_renewed_at_half_of_its_life_and_gmail_every_day(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(database, tmp_path, **GMAIL) as here:
        outlook = await add_mailbox(here.works)
        gmail = await add_mailbox(here.works, "gmail", name="g")
        for source_id in (outlook, gmail):
            await here.run(source_id)
        assert here.provider.created[1][0] == "projects/p/topics/t"
        assert await here.due() == 0
        await here.clock.advance(minutes=23 * 60 + 59)
        assert await here.due() == 0
        await here.clock.advance(minutes=1)
        assert await here.due() == 1
        await here.run(gmail)
        assert here.provider.renewed == ["sub-2"]
        assert await here.due() == 0
        await here.clock.advance(days=2.5)
        await here.run(outlook)
        assert here.provider.renewed == ["sub-2", "sub-1"]
        live = await here.live(outlook)
        assert (live["renewed_at"], live["failures"]) == (here.clock.now, 0)
        assert (live["renew_at"] - here.clock.now).days == 3
        assert len(here.provider.created) == 2


async def test_a_lapsed_subscription_never_reads_as_healthy_and_is_created_again(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(database, tmp_path) as here:
        source_id = await add_mailbox(here.works)
        await here.run(source_id)
        await here.synced(source_id)
        health = await here.health(source_id)
        assert (health.state, health.connection) == ("healthy", "active")
        await here.clock.advance(days=8)
        health = await here.health(source_id)
        assert (health.state, health.connection) == ("degraded", "subscription_expired")
        assert health.push.state == "expired"
        assert "synced every 600 s" in health.reason
        assert health.synced_at is not None
        assert await here.due() == 1
        here.provider.failures = [ProviderUnavailable("Outlook", "timeout")]
        await here.run(source_id)
        assert (await here.health(source_id)).connection == "subscription_expired"
        await here.clock.advance(minutes=10)
        await here.run(source_id)
        assert (await here.health(source_id)).push.state == "active"
        assert here.provider.created[0][1] != here.provider.created[1][1]
        assert await here.admin.fetchval("select reason from ingest.pending_sync") == "subscribed"


async def test_a_subscription_the_provider_forgot_is_replaced_in_the_same_run(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(database, tmp_path) as here:
        source_id = await add_mailbox(here.works)
        await here.run(source_id)
        here.provider.forgotten.add("sub-1")
        await here.clock.advance(days=4)
        await here.run(source_id)
        assert (await here.live(source_id))["provider_id"] == "sub-2"
        ended = await here.admin.fetchval(
            "select end_reason from ingest.subscription where ended_at is not null"
        )
        assert ended == "lost"


async def test_failures_are_tried_again_after_longer_and_longer_waits(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(database, tmp_path) as here:
        source_id = await add_mailbox(here.works)
        waits = []
        for _ in range(8):
            here.provider.failures = [ProviderUnavailable("Outlook", "timeout")]
            await here.run(source_id)
            live = await here.live(source_id)
            waits.append((live["next_try_at"] - here.clock.now).total_seconds() / 60)
            assert await here.due() == 0
            await here.clock.advance(minutes=waits[-1])
            assert await here.due() == 1
        assert waits == [1, 2, 4, 8, 16, 32, 60, 60]
        health = await here.health(source_id)
        assert (health.push.state, health.push.code) == ("failed", "provider_unavailable")
        assert health.connection == "subscription_expired"
        here.provider.failures = [Throttled("Outlook", 7_200)]
        await here.run(source_id)
        live = await here.live(source_id)
        assert (live["next_try_at"] - here.clock.now).total_seconds() == 7_200
        await here.run(source_id)
        assert (await here.live(source_id))["failures"] == 0
        assert (await here.health(source_id)).push.state == "active"


async def test_a_paused_mailbox_is_unsubscribed_and_a_resumed_one_subscribed_again(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(database, tmp_path) as here:
        source_id = await add_mailbox(here.works)
        await here.run(source_id)
        await here.works.engine.sources.pause(here.works.tenant_id, source_id)
        assert await here.admin.fetchval("select count(*) from queues.waiting where task_id > 0") > 0
        here.provider.failures = [ProviderUnavailable("Outlook", "timeout")]
        await here.run(source_id)
        assert here.provider.dropped == []
        await here.clock.advance(minutes=1)
        assert await here.due() == 1
        await here.run(source_id)
        assert here.provider.dropped == ["sub-1"]
        assert await live_subscription(here.admin, source_id) is None
        assert await here.due() == 0
        await here.works.engine.sources.resume(here.works.tenant_id, source_id)
        await here.run(source_id)
        assert (await here.live(source_id))["provider_id"] == "sub-2"


async def test_a_mailbox_disconnected_while_the_provider_was_asked_leaves_no_subscription(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(database, tmp_path) as here:
        source_id = await add_mailbox(here.works)

        async def disconnect() -> None:
            await here.works.engine.sources.disconnect(here.works.tenant_id, source_id, documents="keep")

        here.provider.on_create = disconnect
        await here.run(source_id)
        assert here.provider.dropped == ["sub-1"]
        assert await live_subscription(here.admin, source_id) is None
        assert await here.due() == 0


async def test_a_worker_that_died_after_asking_is_followed_by_another_subscription(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(database, tmp_path) as here:
        source_id = await add_mailbox(here.works)

        async def die() -> None:
            raise KeyboardInterrupt

        here.provider.on_create = die
        with suppress(KeyboardInterrupt):
            await here.run(source_id)
        here.provider.on_create = None
        assert (await here.health(source_id)).push.state == "pending"
        await here.clock.advance(minutes=3)
        assert await here.due() == 1
        await here.run(source_id)
        assert (await here.live(source_id))["provider_id"] == "sub-2"
        reasons = await here.admin.fetch("select end_reason from ingest.subscription order by requested_at")
        assert [row[0] for row in reasons] == ["abandoned", None]


async def test_without_a_public_address_the_schedule_alone_works_and_says_so(
    database: Database, tmp_path: Path
) -> None:
    async with subscribed(
        database, tmp_path, public_url="http://penstock.example", allow_private_addresses=False
    ) as here:
        source_id = await add_mailbox(here.works)
        assert await here.due() == 0
        await here.run(source_id)
        assert here.provider.created == []
        health = await here.health(source_id)
        assert (health.push.state, health.connection) == ("off", "active")
        assert health.push.reason == "PENSTOCK_PUBLIC_URL is not an https address"
        await here.synced(source_id)
        assert (await here.health(source_id)).state == "healthy"
