"""A fallback model: used in a long outage, found beside the others, replaced when the first model is back."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock.engine.engine import Engine
from penstock.errors import SettingInvalid
from penstock.search import SearchQuery
from penstock.simulators import EmbeddingsSimulator, serving
from penstock.simulators.embeddings import KEY
from tests.integration.qdrant_tenants import index_settings
from tests.plugins.database import Database
from tests.plugins.documents import Works, settings_for, works_on
from tests.plugins.workers import Crew, eventually

COHERE = "cohere:embed-v4.0"
OPENAI = "openai:text-embedding-3-small"


@dataclass(slots=True)
class Providers:
    cohere: EmbeddingsSimulator
    openai: EmbeddingsSimulator
    settings: dict[str, Any]


@asynccontextmanager
async def providers(**settings: Any) -> AsyncIterator[Providers]:
    cohere, openai = EmbeddingsSimulator(), EmbeddingsSimulator()
    async with serving(cohere.app) as first, serving(openai.app) as second:
        yield Providers(
            cohere,
            openai,
            {
                "embedder": COHERE,
                "cohere_base_url": first,
                "cohere_api_key": KEY,
                "openai_base_url": f"{second}/v1",
                "openai_api_key": KEY,
                "embedder_fallback": OPENAI,
                "embedder_fallback_after_seconds": 600,
                "embedding_requests_per_minute": 1_000_000,
                **settings,
            },
        )


async def outage_of(works: Works, seconds: float) -> None:
    """Let the outage have begun so long ago, and its next call be due later."""
    async with works.database.connect("admin") as admin:
        await admin.execute(
            "update internal.embedder_outage set since = now() - make_interval(secs => $1),"
            " retry_at = now() + interval '1 minute'",
            seconds,
        )


async def run_now(works: Works, *task_ids: int | None) -> None:
    async with works.database.connect("operator") as operator:
        for task_id in task_ids:
            await operator.execute("select queues.run_now($1)", task_id)


async def waits(works: Works, document_id: Any) -> bool:
    shown = await works.engine.documents.show(works.tenant_id, document_id)
    return (shown.status, shown.reason_code) == ("pending", "embedder_unavailable")


@pytest.mark.parametrize("index", ["pgvector", "qdrant"])
async def test_a_long_outage_indexes_with_the_fallback_and_its_end_brings_the_first_model_back(
    database: Database, tmp_path: Path, index: str
) -> None:
    if index == "qdrant":
        pytest.importorskip("qdrant_edge", reason="the engine of the simulated Qdrant is not installed")
    async with (
        index_settings(index) as where,
        providers(**where) as models,
        works_on(database, tmp_path, **models.settings) as works,
    ):
        async with works.working():
            before = await works.index("The weir was raised before the outage.", "before.txt")
            models.cohere.faults.begin_outage()
            taken = await works.hand_in("The sluice was opened in the outage.", "during.txt")
            await eventually(lambda: waits(works, taken.document_id), within=40)
            assert models.openai.calls == 0, "the outage is young"

            await outage_of(works, 601)
            await run_now(works, taken.task_id)
            during = await works.settled(taken.document_id)
            assert (during.status, during.fallback_embedder) == ("indexed", OPENAI)
            assert "fallback" in await works.event_names(taken.document_id)
            why = await works.engine.documents.explain(works.tenant_id, taken.document_id)
            assert [reason.reason for reason in why.waits_for] == ["fallback"]

            # Found beside the others, by the words while the first model is out, by both models after.
            answer = await works.engine.search.search(
                works.tenant_id, SearchQuery(query="sluice weir outage")
            )
            assert {hit.document_id for hit in answer.hits} == {before.document_id, during.document_id}
            assert (answer.models, answer.degraded) == ((OPENAI,), ("vector",))
            nearest = await works.find("The sluice was opened in the outage.", mode="vector")
            assert nearest[0].document_id == during.document_id

            # Nothing is sent back while the first model is out.
            await works.engine.outages.maintain()
            assert "reembed" not in await works.event_names(taken.document_id)

            models.cohere.faults.clear()
            async with database.connect("admin") as admin:
                await admin.execute("update internal.embedder_outage set retry_at = now()")
            await works.engine.outages.maintain()

            async def back() -> bool:
                shown = await works.engine.documents.show(works.tenant_id, taken.document_id)
                return shown.status == "indexed" and shown.fallback_embedder is None

            await eventually(back, within=40)
            assert "reembed" in await works.event_names(taken.document_id)
            vectors = await works.value(
                "select array_agg(distinct embedding_model) from ingest.chunk c join"
                " ingest.document d on d.document_id = c.document_id and d.live_generation = c.generation"
            )
            assert vectors == [COHERE]


async def test_documents_wait_when_the_fallback_is_unavailable_too(
    database: Database, tmp_path: Path
) -> None:
    async with providers(embedder_fallback_after_seconds=0) as models:
        async with works_on(database, tmp_path, **models.settings) as works, works.working():
            models.cohere.faults.begin_outage()
            models.openai.faults.begin_outage()
            taken = await works.hand_in("The sluice was opened in the outage.", "during.txt")
            await eventually(lambda: waits(works, taken.document_id), within=40)
            await run_now(works, taken.task_id)
            await eventually(lambda: models.openai.calls > 0, within=40)
            await eventually(lambda: waits(works, taken.document_id), within=40)
            models.openai.faults.clear()
            async with database.connect("admin") as admin:
                await admin.execute(
                    "update internal.embedder_outage set retry_at = now() where embedder = $1", OPENAI
                )
            await run_now(works, taken.task_id)
            document = await works.settled(taken.document_id)
            assert (document.status, document.fallback_embedder) == ("indexed", OPENAI)
            assert await works.value("select count(*) from queues.dead_letter") == 0


async def test_an_old_outage_that_was_not_confirmed_does_not_start_the_fallback(
    database: Database, tmp_path: Path
) -> None:
    async with providers() as models, works_on(database, tmp_path, **models.settings) as works:
        async with database.connect("admin") as admin:
            await admin.execute(
                "insert into internal.embedder_outage values ($1, now() - interval '1 day',"
                " now() - interval '1 hour', now() - interval '1 hour', 9, 'yesterday')",
                COHERE,
            )
        async with works.working():
            document = await works.index("The sluice was opened today.")
            assert (document.fallback_embedder, models.openai.calls) == (None, 0)
            assert await works.value("select count(*) from internal.embedder_outage") == 0


async def test_two_workers_share_the_outage_and_a_killed_one_loses_no_document(
    database: Database, tmp_path: Path, crew: Crew
) -> None:
    async with providers(embedder_fallback_after_seconds=1) as models:
        models.cohere.faults.begin_outage()
        async with works_on(database, tmp_path, **models.settings) as works:
            taken = [await works.hand_in(f"Note {n} of the outage.", f"{n}.txt") for n in range(8)]
            settings = {
                **models.settings,
                "data_dir": tmp_path,
                "parse_processes": 1,
                "lease_seconds": 2,
                "beat_seconds": 0.4,
            }
            first = crew.spawn("penstock", "worker", **settings)
            crew.spawn("penstock", "worker", **settings)

            async def out() -> bool:
                return bool(await works.value("select count(*) from internal.embedder_outage"))

            await eventually(out, within=60)
            crew.kill(first)
            crew.spawn("penstock", "worker", **settings)

            async def all_indexed() -> bool:
                # Hurry those that wait for their next look at the embedder.
                await run_now(works, *(each.task_id for each in taken))
                return bool(
                    await works.value(
                        "select count(*) = 8 from ingest.document"
                        " where status = 'indexed' and fallback_embedder = $1",
                        OPENAI,
                    )
                )

            await eventually(all_indexed, within=120, every=0.5)
            models.cohere.faults.clear()
            async with database.connect("admin") as admin:
                await admin.execute("update internal.embedder_outage set retry_at = now()")
            await works.engine.outages.maintain()

            async def all_back() -> bool:
                return bool(
                    await works.value(
                        "select count(*) = 8 from ingest.document"
                        " where status = 'indexed' and fallback_embedder is null"
                    )
                )

            await eventually(all_back, within=120, every=0.5)
            assert await works.value("select count(*) from queues.dead_letter") == 0
            assert await works.value("select count(*) from ingest.document where status = 'failed'") == 0


@pytest.mark.parametrize(
    ("fallback", "said"),
    [
        ("openai", "PENSTOCK_OPENAI_API_KEY"),
        ("nowhere", "there is no embedder"),
        ("wordllama-l2-supercat-256", "choose another"),
    ],
)
async def test_a_fallback_that_cannot_work_is_refused_at_start(
    database: Database, tmp_path: Path, fallback: str, said: str
) -> None:
    with pytest.raises(SettingInvalid, match=said) as refused:
        async with Engine(settings_for(database, tmp_path, embedder_fallback=fallback)):
            pass
    assert refused.value.variable == "PENSTOCK_EMBEDDER_FALLBACK"
