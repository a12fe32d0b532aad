"""Sources are synced by themselves, and their health says how it is going; over HTTP too."""

from __future__ import annotations

import asyncio
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from tests.integration.api_server import api_server, assert_problem
from tests.plugins.database import Database
from tests.plugins.documents import Works
from tests.plugins.scripted_source import add_source, notes, settled, syncing
from tests.plugins.workers import eventually


async def due_now(works: Works, source_id: Any) -> dict[str, Any]:
    """Let the time of the next sync come, and maintenance look; returns the sync that follows."""
    async with works.database.connect("admin") as admin:
        await admin.execute("update ingest.source set next_sync_at = internal.clock()")
    await works.engine.source_sync.maintain()
    return await settled(works, source_id)


async def test_a_source_is_synced_every_night_or_as_often_as_its_owner_says(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(3)
    async with syncing(database, tmp_path, provider) as works:
        sources, tenant_id = works.engine.sources, works.tenant_id
        source_id = (await sources.add(tenant_id, "folder", {"path": "/"})).source_id
        await settled(works, source_id)
        night = (await sources.show(tenant_id, source_id)).next_sync_at
        assert night is not None
        assert night.astimezone(UTC).hour in (1, 2)
        assert timedelta(0) < night - datetime.now(UTC) < timedelta(days=1, hours=3)

        provider.put("003", "Note 3 is new.")
        job = await due_now(works, source_id)
        assert (job["kind"], job["reason"], job["items_written"]) == ("delta_sync", "schedule", 1)

        changed = await sources.schedule(tenant_id, source_id, timedelta(hours=6))
        assert changed.sync_every_seconds == 21_600
        await due_now(works, source_id)
        soon = (await sources.show(tenant_id, source_id)).next_sync_at
        assert soon is not None
        assert timedelta(hours=5) < soon - datetime.now(UTC) <= timedelta(hours=6)

        assert (await sources.schedule(tenant_id, source_id, None)).next_sync_at is None
        await works.engine.source_sync.maintain()
        assert await works.value("select count(*) from ingest.ingestion_job") == 3


async def test_the_health_says_how_far_a_sync_is_and_counts_what_it_embedded(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(6)
    reached, going_on = asyncio.Event(), asyncio.Event()

    async def stop_at_the_third(page: int) -> None:
        if page == 3:
            reached.set()
            await going_on.wait()

    provider.on_page = stop_at_the_third
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        show = works.engine.sources.show
        await asyncio.wait_for(reached.wait(), 30)

        async def is_at_four() -> bool:
            health = (await show(works.tenant_id, source_id)).health
            return (health.state, health.seen, health.expected) == ("syncing", 4, 6)

        await eventually(is_at_four, within=30)
        going_on.set()
        job = await settled(works, source_id)
        assert (job["texts_embedded"], job["items_seen"]) == (6, 6)
        assert (await show(works.tenant_id, source_id)).health.state == "healthy"


async def test_sources_are_shown_synced_and_scheduled_over_http(database: Database, tmp_path: Path) -> None:
    folder = tmp_path / "papers"
    folder.mkdir()
    (folder / "one.md").write_text("# One\n\nAbout sluices.")
    async with api_server(database, tmp_path) as server, server.client() as http, server.working():
        tenant_id = server.tenant.tenant_id
        source = await server.engine.sources.add(tenant_id, "folder", {"path": str(folder)})
        url = f"/v1/sources/{source.source_id}"

        async def shown(state: str, syncs: int) -> bool:
            found = (await http.get(url)).json()
            return found["health"]["state"] == state and len(found["jobs"]) == syncs

        await eventually(lambda: shown("healthy", 1), within=60)
        asked = await http.post(f"{url}/sync", json={"full": True})
        assert (asked.status_code, asked.json()["source_id"]) == (202, str(source.source_id))
        await eventually(lambda: shown("healthy", 2), within=60)
        job = (await http.get(url)).json()["jobs"][0]
        assert (job["kind"], job["items_unchanged"], job["estimate"]) == ("full_sync", 1, None)
        changed = await http.put(f"{url}/schedule", json={"sync_every_seconds": 3_600})
        assert changed.json()["sync_every_seconds"] == 3_600
        assert_problem(
            await http.put(f"{url}/schedule", json={"sync_every_seconds": 1}), 422, "sync_every_seconds"
        )

        _, other_key = await server.another_tenant("other")
        async with server.client(other_key) as others:
            assert_problem(await others.get(url), 404, "source_id")
            assert_problem(await others.post(f"{url}/sync", json={}), 404, "source_id")
            assert_problem(
                await others.put(f"{url}/schedule", json={"sync_every_seconds": None}), 404, "source_id"
            )
