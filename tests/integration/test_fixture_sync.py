"""Recorded responses of the providers become documents and clients, without a token or a network."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.scripted_source import settled, synced

COUNTS = {"hubspot": 10, "google_drive": 4, "quickbooks": 8, "gmail": 3}


async def test_recorded_responses_are_synced_like_a_connected_account(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path, integrations_use_fixtures=True) as works, works.working():
        for kind, count in COUNTS.items():
            source = await works.engine.sources.add(works.tenant_id, kind, {})
            job = await settled(works, source.source_id)
            assert (job["status"], job["items_written"], job["items_failed"]) == ("completed", count, 0), kind
        again = await synced(works, source.source_id, full=True)
        assert (again["items_unchanged"], again["items_written"], again["items_removed"]) == (3, 0, 0)
        clients = "select count(*) from ingest.client_intelligence where client_name is not null"
        assert await works.value(clients) >= 6
