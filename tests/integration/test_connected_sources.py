"""Four connected accounts become documents and clients, and stay current."""

from __future__ import annotations

import json
from pathlib import Path

from tests.integration.connecting_sources import connections
from tests.plugins.database import Database
from tests.plugins.scripted_source import settled, synced


async def test_everything_in_four_accounts_is_found_beside_uploads_and_follows_changes(
    database: Database, tmp_path: Path
) -> None:
    async with connections(database, tmp_path) as here, here.works.working():
        works, world = here.works, here.simulators.world
        sources = {}
        for provider in ("hubspot", "quickbooks", "google_drive", "gmail"):
            sources[provider] = await here.connect(provider)
            job = await settled(works, sources[provider])
            assert (job["status"], job["items_failed"]) == ("completed", 0), job
        types = json.loads(
            await works.value(
                "select jsonb_object_agg(t.document_type, t.n) from"
                " (select document_type, count(*) as n from ingest.source_document group by 1) t"
            )
        )
        assert types["hubspot.contact"] == 5
        assert {
            "hubspot.company",
            "hubspot.deal",
            "quickbooks.customer",
            "quickbooks.invoice",
        } <= types.keys()
        assert {"google_drive.doc", "gmail.thread"} <= types.keys()
        clients = await works.value(
            "select array_agg(distinct split_part(external_id, '/', 1)) from ingest.client_intelligence"
        )
        assert set(clients) == {"companies", "contacts", "customers"}, "files and threads make no clients"

        company = next(iter(world.hubspot.companies.live()))
        world.hubspot.companies.change(company.id, {"description": "They now build lighthouses."})
        job = await synced(works, sources["hubspot"])
        assert (job["kind"], job["items_written"], job["items_failed"]) == ("delta_sync", 1, 0), job
        (hit, *_) = await works.find("lighthouses", mode="text", limit=1)
        assert "lighthouses" in hit.text
        for source_id in sources.values():
            shown = await works.engine.sources.show(works.tenant_id, source_id)
            assert shown.health.state == "healthy"
            assert shown.next_sync_at is not None, "it is synced every night by default"
