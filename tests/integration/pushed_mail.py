"""The simulated providers and the API at its public address, where their notifications arrive."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from penstock.api import ConnectionLimits, create_app, listen, server
from penstock.model import SourceId
from penstock.simulators.providers import serving_providers
from tests.integration.connecting_sources import Connections
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.workers import eventually

QUIET = """
select exists (
    select from ingest.subscription where source_id = $1 and ended_at is null and created_at is not null)
  and exists (select from ingest.source where source_id = $1 and synced_at is not null)
  and not exists (select from ingest.pending_sync)
  and not exists (select from ingest.ingestion_job where finished_at is null)
  and not exists (select from ingest.ingestion where finished_at is null)
"""


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return int(taken.getsockname()[1])


@asynccontextmanager
async def notified(database: Database, folder: Path, **chosen: Any) -> AsyncIterator[Connections]:
    """Mailboxes are empty, and there is no worker yet."""
    port = free_port()
    public_url = f"http://127.0.0.1:{port}"
    async with serving_providers(contacts=3, mails=0, threads=0) as sim:
        sim.gmail.pubsub.push_to(f"{public_url}/webhooks/gmail")
        settings: dict[str, Any] = {**sim.settings(), "public_url": public_url, "api_port": port, **chosen}
        async with works_on(database, folder, **settings) as works:
            with listen("127.0.0.1", port) as listening:
                running = server(
                    create_app(works.engine),
                    grace_seconds=2,
                    limits=ConnectionLimits.of(works.engine.settings),
                )
                serving = asyncio.create_task(running.serve([listening]))
                try:
                    yield Connections(works, sim)
                finally:
                    running.stop()
                    await serving


async def quiet(here: Connections, source_id: SourceId, *, within: float) -> None:
    """Connected, subscribed, and everything that was asked for is done."""
    async with here.works.database.connect("admin") as admin:
        await eventually(
            lambda: admin.fetchval(QUIET, source_id),
            within=within,
            every=0.1,
            what="all syncs and runs ended",
        )
