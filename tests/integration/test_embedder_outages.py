"""An embedder that is unavailable: documents wait without using attempts, and searches answer by words."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock.documents.rows import Document, Taken
from penstock.search import SearchQuery
from penstock.simulators import EmbeddingsSimulator, Fault, busy, serving
from penstock.simulators.embeddings import KEY
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import eventually

NOTE = "The sluice was opened at noon. The wheel began to turn."
OPENAI = "openai:text-embedding-3-small"
UNKNOWN = "openai:house-model"
"""A model whose dimensions its first answer tells."""


def openai(url: str, embedder: str = OPENAI) -> dict[str, Any]:
    return {"embedder": embedder, "openai_base_url": f"{url}/v1", "openai_api_key": KEY}


async def waiting(works: Works, taken: Taken) -> Document:
    """The document once its timeline says that it waits for its embedder."""
    shown: list[Document] = []

    async def waits() -> bool:
        shown.append(await works.engine.documents.show(works.tenant_id, taken.document_id))
        # While a run tries the embedder again, it is `processing` and keeps the reason.
        return shown[-1].reason_code is not None and shown[-1].status == "pending"

    await eventually(waits, within=40, what="the document waits")
    assert shown[-1].reason_code == "embedder_unavailable", shown[-1]
    return shown[-1]


async def hurry(works: Works, taken: Taken) -> None:
    """Let the embedder be tried again and the document run, now instead of in seconds."""
    async with works.database.connect("admin") as admin:
        await admin.execute("update internal.embedder_outage set retry_at = now()")
    async with works.database.connect("operator") as operator:
        await operator.execute("select queues.run_now($1)", taken.task_id)


async def call_again(works: Works, taken: Taken, simulator: EmbeddingsSimulator) -> None:
    """Hurry until the embedder is called once more; a run that ends meanwhile puts it off again."""
    before = simulator.calls

    async def called() -> bool:
        await hurry(works, taken)
        return simulator.calls > before

    await eventually(called, within=30, every=0.3)


async def assert_explained(works: Works, taken: Taken) -> None:
    why = await works.engine.documents.explain(works.tenant_id, taken.document_id)
    said = {reason.reason: reason for reason in why.waits_for}
    assert "unavailable since" in said["embedder_unavailable"].explanation
    assert "PENSTOCK_EMBEDDER_FALLBACK" in said["embedder_unavailable"].remedy


@pytest.mark.parametrize("embedder", [OPENAI, UNKNOWN])
@pytest.mark.parametrize("fault", [Fault("status", 503), busy("60"), Fault("disconnect")])
async def test_an_unavailable_embedder_costs_no_attempt_even_on_the_first_call_after_a_start(
    database: Database, tmp_path: Path, embedder: str, fault: Fault
) -> None:
    simulator = EmbeddingsSimulator()
    simulator.faults.begin_outage(fault)
    async with serving(simulator.app) as url, works_on(database, tmp_path, **openai(url, embedder)) as works:
        async with works.working():
            taken = await works.hand_in(NOTE)
            await waiting(works, taken)
            for _ in range(4):  # more often than a document has attempts
                await call_again(works, taken, simulator)
                await assert_explained(works, taken)  # whether it runs or waits just now
            simulator.faults.clear()
            await call_again(works, taken, simulator)
            document = await works.settled(taken.document_id)
            assert (document.status, document.reason_code) == ("indexed", None)
            assert await works.value("select count(*) from queues.dead_letter") == 0
            assert (
                await works.value(
                    "select max(attempt_number) from queues.attempt where outcome = 'completed'"
                )
                == 1
            )
            assert await works.value("select count(*) from internal.embedder_outage") == 0


async def test_an_outage_is_explained_also_while_the_embedder_is_tried_and_before_the_first_run(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    simulator.faults.begin_outage()
    async with serving(simulator.app) as url, works_on(database, tmp_path, **openai(url)) as works:
        async with works.working():
            taken = await works.hand_in(NOTE)
            await waiting(works, taken)
            simulator.faults.begin_outage(Fault("slow", seconds=5))

            async def runs() -> bool:
                await hurry(works, taken)
                shown = await works.engine.documents.show(works.tenant_id, taken.document_id)
                return shown.status == "embedding"

            await eventually(runs, within=30)
            await assert_explained(works, taken)
        second = await works.hand_in(NOTE + " Again.")  # nobody works on it yet
        await assert_explained(works, second)
        async with works.database.connect("admin") as admin:
            await admin.execute(
                "update internal.embedder_outage set"
                " failed_at = now() - interval '1 hour', retry_at = now() - interval '1 hour'"
            )
        why = await works.engine.documents.explain(works.tenant_id, second.document_id)
        assert "embedder_unavailable" not in {reason.reason for reason in why.waits_for}


async def test_retry_after_decides_when_a_document_tries_again(database: Database, tmp_path: Path) -> None:
    simulator = EmbeddingsSimulator()
    simulator.faults.begin_outage(busy("120"))
    async with serving(simulator.app) as url, works_on(database, tmp_path, **openai(url)) as works:
        async with works.working():
            taken = await works.hand_in(NOTE)
            await waiting(works, taken)
            left = await works.value(
                "select extract(epoch from retry_at - now())::float8 from internal.embedder_outage"
            )
            assert 100 < left <= 120
            seconds = await works.value(
                "select (detail ->> 'seconds')::float8 from ingest.document_event where event = 'waits'"
            )
            assert 120 <= seconds <= 144


async def test_while_an_embedder_is_unavailable_other_documents_wait_without_a_call_or_a_parse(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    simulator.faults.begin_outage(busy("120"))
    async with serving(simulator.app) as url, works_on(database, tmp_path, **openai(url)) as works:
        async with works.working():
            await waiting(works, await works.hand_in(NOTE))
            calls = simulator.calls
            second = await works.hand_in(NOTE + " Again.")
            await waiting(works, second)
            assert simulator.calls == calls
            assert await works.event_names(second.document_id) == ["taken_in", "waits"]


async def test_a_request_that_the_embedder_rejects_fails_at_once(database: Database, tmp_path: Path) -> None:
    simulator = EmbeddingsSimulator()
    simulator.faults.begin_outage(Fault("status", 400))
    async with serving(simulator.app) as url, works_on(database, tmp_path, **openai(url)) as works:
        async with works.working():
            taken = await works.hand_in(NOTE)
            document = await works.settled(taken.document_id)
            assert (document.status, document.reason_code) == ("failed", "EmbedderRefused")
            assert (await works.event_names(taken.document_id)).count("started") == 1


async def test_a_search_without_its_embedder_answers_by_words_and_says_so(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as url, works_on(database, tmp_path, **openai(url)) as works:
        async with works.working():
            document = await works.index(NOTE)
            simulator.faults.begin_outage()
            answer = await works.engine.search.search(works.tenant_id, SearchQuery(query="sluice wheel"))
            assert [hit.document_id for hit in answer.hits] == [document.document_id]
            assert answer.degraded == ("vector",)
            assert "503" in answer.unavailable[0].reason
