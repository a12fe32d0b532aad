"""A new version of a field map is applied to what is stored, without asking the provider."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.sources.errors import ProviderUnavailable
from penstock.sources.mapping.mapped import Fact, MapFailed, Mapped
from tests.plugins.database import Database
from tests.plugins.scripted_source import add_source, embedded, notes, settled, synced, syncing


class SecondMap:
    """The text is as it was, except for notes with a colour; every note states a fact."""

    document_type = "scripted.note"
    version = 2

    def apply(self, external_id: str, payload: Mapping[str, Any]) -> Mapped:
        if payload.get("title") == "Note 3":
            raise MapFailed(self.document_type, "title", "is forbidden")
        text = payload["text"] + (f" It is {payload['colour']}." if "colour" in payload else "")
        facts = (
            Fact(client=external_id, name="client_name", value=payload["title"]),
            Fact(client=external_id, name="mapped_by", value=self.version),
        )
        return Mapped(title=payload["title"], text=text, facts=facts)


async def test_a_new_version_of_a_map_is_applied_to_stored_items_without_reading_them(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(5)
    provider.put("001", "Note 1 speaks of turbine 1.", title="Note 1", colour="green")
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        before, pages = await embedded(works), provider.pages
        documents = await works.value(
            "select array_agg(document_id order by external_id) from ingest.document"
        )

        provider.field_map = SecondMap()
        job = await synced(works, source_id)
        assert (job["kind"], job["items_seen"], job["items_written"]) == ("delta_sync", 0, 0)
        assert (job["items_remapped"], job["items_failed"]) == (4, 1)
        assert '"path": "title"' in job["error_details"]
        assert provider.pages == pages, "the provider was not asked for any item"
        assert await embedded(works) - before == 1 + 4, "one changed text, and four new clients"
        (hit, *_) = await works.find("green", mode="text", limit=1)
        assert hit.document_id == documents[1], "a document keeps its id"
        facts = await works.value("select count(*) from ingest.client_intelligence")
        assert facts == 4
        kept = "select map_version from ingest.source_document where external_id = 'notes/003'"
        assert await works.value(kept) == 1, "what could not be mapped stays as it was"

        job = await synced(works, source_id, full=True)
        assert (job["items_unchanged"], job["items_remapped"], job["items_removed"]) == (4, 0, 0)


async def test_a_map_is_applied_even_if_the_provider_is_down_and_hides_no_deletion(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(3)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        provider.delete("000", quietly=True)
        provider.field_map = SecondMap()
        provider.errors = {provider.pages + 1: [ProviderUnavailable("Script", "503")]}
        job = await synced(works, source_id, full=True)
        assert (job["status"], job["items_remapped"]) == ("completed", 3)
        assert job["items_removed"] == 1, "an item that was mapped again was not seen by that"
        assert await works.value("select count(*) from ingest.client_intelligence") == 2
