"""Before a first sync that costs something, what it will embed is estimated; a budget pauses it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from penstock.simulators import EmbeddingsSimulator, serving
from penstock.simulators.embeddings import KEY
from penstock.sources.sources import SourceDetails
from tests.plugins.database import Database
from tests.plugins.documents import Works
from tests.plugins.scripted_source import add_source, embedded, hurry, notes, settled, synced, syncing
from tests.plugins.workers import eventually

NOTES = 40


async def set_budget(works: Works, tokens: int | None) -> None:
    async with works.database.connect("admin") as admin:
        await admin.execute("update accounts.tenant set monthly_token_budget = $1", tokens)


async def paused(works: Works, source_id: Any) -> SourceDetails:
    """The source, once its sync waits for a budget."""
    shown: list[SourceDetails] = []

    async def is_over_budget() -> bool:
        shown.append(await works.engine.sources.show(works.tenant_id, source_id))
        return shown[-1].health.code == "over_budget"

    await eventually(is_over_budget, within=60)
    return shown[-1]


async def test_a_first_sync_over_budget_pauses_before_it_embeds_and_goes_on_with_a_larger_one(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(NOTES)
    async with syncing(database, tmp_path, provider) as works:
        await set_budget(works, 50)
        source_id = await add_source(works)
        source = await paused(works, source_id)
        assert await embedded(works) == 0
        assert source.documents == 0
        found = source.jobs[0].estimate
        assert found is not None
        assert (found["items"], found["texts"], found["files"]) == (NOTES, NOTES, 0)
        assert 5 * NOTES <= found["tokens"] <= 20 * NOTES, "about ten tokens a note"
        assert f"about {found['tokens']} tokens" in (source.health.reason or "")
        assert "50 left" in (source.health.reason or "")
        assert "monthly_token_budget" in (source.health.action or "")
        assert source.health.next_try_at is not None

        pages = provider.pages
        await set_budget(works, 1_000_000)
        await hurry(works, source_id)
        job = await settled(works, source_id)
        assert (job["status"], job["items_written"]) == ("completed", NOTES)
        assert provider.pages == pages + NOTES // provider.page_size, "it was not estimated again"
        used = await works.value("select sum(tokens) from accounts.usage")
        assert used <= found["tokens"] * 1.5


async def test_a_budget_that_runs_out_in_the_middle_pauses_the_sync_there(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(NOTES)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        for number in range(NOTES):
            provider.put(f"{number:03}", f"Note {number} has another text now: {'weir ' * 30}")
        await set_budget(works, int(await works.value("select sum(tokens) from accounts.usage")) + 700)
        async with works.engine.tenants.transaction(works.tenant_id) as conn:
            await conn.execute("select ingest.request_sync($1, false)", source_id)
        source = await paused(works, source_id)
        assert 0 < source.jobs[0].items_written < NOTES
        assert source.jobs[0].estimate is None, "only a first sync is estimated"


async def test_a_first_sync_with_a_remote_embedder_is_estimated_with_its_cost(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as address:
        remote: dict[str, Any] = {
            "embedder": "brain",
            "brain_url": address,
            "brain_api_secret": KEY,
            "allow_private_addresses": True,
            "embedding_price_per_million_tokens": 20.0,
        }
        async with syncing(database, tmp_path, notes(NOTES), **remote) as works:
            source_id = await add_source(works)
            job = await settled(works, source_id)
            assert (job["status"], job["items_written"]) == ("completed", NOTES)
            found = json.loads(job["estimate"])
            assert found["texts"] == NOTES
            assert found["cost"] == round(found["tokens"] * 20 / 1_000_000, 4) > 0
            again = await synced(works, source_id, full=True)
            assert again["estimate"] is None


async def test_what_costs_nothing_is_not_estimated(database: Database, tmp_path: Path) -> None:
    provider = notes(4)
    async with syncing(database, tmp_path, provider) as works:
        job = await settled(works, await add_source(works))
        assert (job["estimate"], provider.pages) == (None, 2)
