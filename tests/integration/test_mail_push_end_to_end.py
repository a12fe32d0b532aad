"""Mail arrives by push, through the providers' own wire formats: connected, notified, read and found."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from tests.integration.connecting_sources import Connections
from tests.integration.pushed_mail import notified, quiet
from tests.plugins.database import Database
from tests.plugins.pushed_source import live_subscription
from tests.plugins.workers import eventually


@asynccontextmanager
async def pushed(database: Database, folder: Path) -> AsyncIterator[tuple[Connections, Any]]:
    """The simulators, the API at its public address, and a worker."""
    async with notified(database, folder) as here, here.works.working():
        yield here, here.simulators


@pytest.mark.timeout(240)
@pytest.mark.parametrize("kind", ["outlook", "gmail"])
async def test_a_mail_that_arrives_is_found_without_waiting_for_the_sweep(
    kind: str, database: Database, tmp_path: Path
) -> None:
    async with pushed(database, tmp_path) as (here, sim), database.connect("admin") as admin:
        source_id = await here.connect(kind)

        await quiet(here, source_id, within=90)
        delivered = sim.deliver(kind, "invoice")
        (name, _), *_ = delivered.files

        async def is_there() -> bool:
            found = "select count(*) from ingest.document where filename = $1 and status = 'indexed'"
            return bool(await admin.fetchval(found, name))

        await eventually(is_there, within=90, what="the attachment is indexed")
        reasons = await admin.fetch("select reason from ingest.ingestion_job order by job_id")
        assert "push" in {row[0] for row in reasons}, [row[0] for row in reasons]
        health = (await here.works.engine.sources.show(here.works.tenant_id, source_id)).health
        assert health.push is not None
        assert (health.connection, health.push.state) == ("active", "active")
        assert health.push.last_notified_at is not None


@pytest.mark.timeout(240)
async def test_a_subscription_that_microsoft_removed_is_replaced_and_nothing_is_missed(
    database: Database, tmp_path: Path
) -> None:
    async with pushed(database, tmp_path) as (here, sim), database.connect("admin") as admin:
        source_id = await here.connect("outlook")

        async def provider_id() -> str | None:
            live = await live_subscription(admin, source_id)
            return None if live is None else live["provider_id"]

        await eventually(provider_id, within=60)
        first = await provider_id()
        sim.outlook.subscriptions.tell("subscriptionRemoved")

        async def is_replaced() -> bool:
            return await provider_id() not in (None, first)

        await eventually(is_replaced, within=60)
        await here.works.engine.sources.pause(here.works.tenant_id, source_id)
        await eventually(lambda: not sim.outlook.subscriptions.all(), within=60, what="dropped at Microsoft")
