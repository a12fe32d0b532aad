"""What goes wrong on a document's way, and what must not come of it."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from datetime import UTC, datetime
from itertools import pairwise
from pathlib import Path
from typing import Any

import psutil
import pytest

from penstock.cli.demo import files as demo_files
from penstock.documents.pipeline_config import PipelineConfig
from penstock.errors import InvalidArgument
from penstock.simulators import EmbeddingsSimulator, Fault, busy, serving
from penstock.simulators.embeddings import KEY
from tests.plugins.busy import stretched
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.workers import Crew, eventually

NOTE = "The sluice was opened at noon. The wheel began to turn."


def _openai(url: str) -> dict[str, Any]:
    return {"embedder": "openai", "openai_base_url": f"{url}/v1", "openai_api_key": KEY}


async def test_an_embedder_that_answers_nonsense_is_tried_three_times_and_then_the_document_failed(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    simulator.faults.add(Fault("wrong_size"), times=50)
    async with serving(simulator.app) as url, works_on(database, tmp_path, **_openai(url)) as works:
        async with works.working():
            taken = await works.hand_in(NOTE)

            async def failed() -> bool:
                return (
                    await works.engine.documents.show(works.tenant_id, taken.document_id)
                ).status == "failed"

            await eventually(failed, within=60)
            document = await works.engine.documents.show(works.tenant_id, taken.document_id)
            assert document.reason_code == "EmbedderFailed"
            event_names = await works.event_names(taken.document_id)
            assert event_names.count("started") == 3
            assert event_names.count("attempt_failed") == 2

            async def became_dead_letter() -> bool:
                return bool(await works.value("select count(*) = 1 from queues.dead_letter"))

            await eventually(became_dead_letter)
            starts = await works.value(
                "select array_agg(at order by event_id) from ingest.document_event where event = 'started'"
            )
            waits = [(after - before).total_seconds() for before, after in pairwise(starts)]
            assert waits[0] >= 1
            assert waits[1] >= 4
            # After the fix, a retry by hand succeeds.
            simulator.faults.clear()
            await works.engine.documents.retry(works.tenant_id, taken.document_id)

            async def indexed() -> bool:
                return (
                    await works.engine.documents.show(works.tenant_id, taken.document_id)
                ).status == "indexed"

            await eventually(indexed)


async def test_a_busy_embedder_is_waited_for_and_the_document_does_not_fail(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    simulator.faults.add(busy("1"), times=2)
    async with serving(simulator.app) as url, works_on(database, tmp_path, **_openai(url)) as works:
        async with works.working():
            document = await works.index(NOTE)
            assert await works.event_names(document.document_id) == [
                "taken_in",
                "started",
                "chunked",
                "indexed",
            ]
            assert simulator.texts == 1


async def test_a_tenant_over_its_budget_waits_and_continues_when_there_is_room(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        await works.engine.accounts.set_tenant(works.tenant_id, monthly_token_budget=3)
        taken = await works.hand_in(NOTE)

        async def waits() -> bool:
            return "waits" in await works.event_names(taken.document_id)

        await eventually(waits, within=30)
        document = await works.engine.documents.show(works.tenant_id, taken.document_id)
        assert (document.status, document.reason_code) == ("pending", "over_budget")

        async def explained() -> bool:
            why = await works.engine.documents.explain(works.tenant_id, taken.document_id)
            return any(reason.reason == "not_due" for reason in why.waits_for)

        await eventually(explained)
        await works.engine.accounts.set_tenant(works.tenant_id, monthly_token_budget=None)
        async with database.connect("operator") as operator:
            await operator.execute("select queues.run_now($1)", taken.task_id)

        async def indexed() -> bool:
            return (await works.engine.documents.show(works.tenant_id, taken.document_id)).status == "indexed"

        await eventually(indexed)


async def test_another_embedder_takes_over_all_documents_at_once_and_none_is_missing_meanwhile(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as url:
        remote = _openai(url) | {"embedder": "wordllama"}
        async with works_on(database, tmp_path, **remote) as works, works.working():
            for number in range(6):
                await works.index(
                    f"Report {number}: the sluice gate number {number} holds.", f"r{number}.txt"
                )
            missing: list[int] = []
            done = asyncio.Event()

            async def keep_searching() -> None:
                while not done.is_set():
                    found = {hit.document_id for hit in await works.find("sluice gate report", limit=50)}
                    if len(found) != 6:
                        missing.append(len(found))

            searching = asyncio.create_task(keep_searching())
            try:
                await works.engine.documents.reindex_project(works.tenant_id, "default", embedder="openai")

                async def switched() -> bool:
                    project = await works.engine.accounts.show_project(works.tenant_id, "default")
                    return project.embedder == "openai" and project.next_embedder is None

                await eventually(switched, within=60)
            finally:
                done.set()
                await searching
            assert not missing
            assert simulator.texts >= 6
            hits = await works.find("sluice gate report", mode="vector", limit=50)
            assert {hit.model for hit in hits} == {"openai:text-embedding-3-small"}
            assert len({hit.document_id for hit in hits}) == 6


async def test_a_switch_that_embeds_nothing_leaves_the_project_with_the_embedder_it_has(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator(key="another")
    async with serving(simulator.app) as url:
        remote = _openai(url) | {"embedder": "wordllama"}
        async with works_on(database, tmp_path, **remote) as works, works.working():
            document = await works.index(NOTE)
            task_id = await works.engine.documents.reindex_project(
                works.tenant_id, "default", embedder="openai"
            )

            async def given_up() -> bool:
                return bool(await works.value("select queues.task_state($1) = 'dead'", task_id))

            await eventually(given_up, within=60)
            project = await works.engine.accounts.show_project(works.tenant_id, "default")
            assert (project.embedder, project.next_embedder) == ("wordllama", None)
            assert "staging_failed" in await works.event_names(document.document_id)
            assert (await works.find("sluice wheel", mode="vector"))[0].document_id == document.document_id


async def test_a_killed_worker_delays_a_document_and_loses_none(
    database: Database, tmp_path: Path, crew: Crew
) -> None:
    settings: dict[str, Any] = {
        "data_dir": tmp_path,
        "parse_processes": 1,
        "lease_seconds": 2,
        "beat_seconds": 0.4,
    }
    async with works_on(database, tmp_path) as works:
        ids = [
            (await works.hand_in(f"# Note {n}\n\n" + f"Line {n} of it. " * 400)).document_id
            for n in range(12)
        ]
        first = crew.spawn("penstock", "worker", **settings)

        async def some_under_way() -> bool:
            return bool(
                await works.value(
                    "select count(*) from ingest.document where status in ('processing', 'embedding')"
                )
            )

        await eventually(some_under_way, within=60, every=0.005)
        children = psutil.Process(first.pid).children(recursive=True)
        crew.kill(first)
        crew.spawn("penstock", "worker", **settings)

        async def all_indexed() -> bool:
            return bool(
                await works.value("select count(*) = 12 from ingest.document where status = 'indexed'")
            )

        await eventually(all_indexed, within=90, every=0.1)
        lost = [n for n in range(12) if "run_lost" in await works.event_names(ids[n])]
        assert lost, "the kill hit no run"
        # Written once: each document has exactly the chunks of its live generation, once each.
        doubled = await works.value(
            "select count(*) from (select 1 from ingest.chunk c join ingest.document d using (document_id)"
            " where c.generation = d.live_generation group by c.document_id, c.ordinal having count(*) > 1) x"
        )
        assert doubled == 0
        await eventually(
            lambda: not [child for child in children if child.is_running() and child.status() != "zombie"],
            what="the killed worker's children end with it",
        )


@pytest.mark.fresh_children
async def test_deleting_a_document_kills_its_parser_within_two_seconds(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path, parse_seconds=60) as works, works.working():
        await works.engine.warm()
        scan = demo_files.scan_pdf(
            [[f"# Page {n}", "A page of a scan takes a second to read."] for n in range(12)]
        )
        # "processing" is said before the parser has the file; one cancelled that early may live on.
        idle = set(_parsers())
        reading: list[int] = []

        def at_work() -> bool:
            reading[:] = [parser for parser in set(_parsers()) - idle if _worked(parser) > 0.3]
            return bool(reading)

        taken = await works.hand_in(scan, "scan.pdf")
        await eventually(at_work, within=60, every=0.01)
        await works.engine.documents.delete(works.tenant_id, taken.document_id)
        await eventually(
            lambda: not set(reading) & set(_parsers()), within=stretched(2), what="the parser is killed"
        )


def _worked(parser: int) -> float:
    """The seconds of processor a parser has used."""
    with suppress(psutil.NoSuchProcess):
        used = psutil.Process(parser).cpu_times()
        return float(used.user + used.system)
    return 0.0


def _parsers() -> list[int]:
    """The parsers that live; one that ends while it is looked at does not."""
    found = []
    for child in psutil.Process(os.getpid()).children(recursive=True):
        with suppress(psutil.NoSuchProcess):
            if "penstock.sandbox.child" in child.cmdline() and child.status() != psutil.STATUS_ZOMBIE:
                found.append(child.pid)
    return found


async def test_a_language_the_server_does_not_know_is_refused_by_name(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        with pytest.raises(InvalidArgument, match="klingon") as refused:
            await works.hand_in(NOTE, pipeline_config=PipelineConfig(language="klingon"))
        assert refused.value.field == "pipeline_config.language"
        assert "german" in refused.value.remedy


async def test_a_document_with_its_own_pipeline_settings_runs_first(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path, ingest_concurrency=1) as works:
        plain = [await works.hand_in(f"Plain note {n}.", f"p{n}.txt") for n in range(5)]
        custom = await works.hand_in(
            "A custom note.", "c.txt", pipeline_config=PipelineConfig(language="simple")
        )
        async with works.working():
            for taken in [*plain, custom]:
                await works.settled(taken.document_id)
        order = await works.value(
            "select array_agg(document_id order by event_id)"
            " from ingest.document_event where event = 'started'"
        )
        assert order.index(custom.document_id) == 0


async def test_a_large_document_does_not_delay_a_small_one(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path, parse_processes=2) as works, works.working():
        await works.index("Warm up.", "w.txt")
        big = "\n\n".join(f"## Item {n}\n\n" + f"Detail {n} of the inventory. " * 60 for n in range(2500))
        large = await works.hand_in(big, "large.md")

        async def embedding() -> bool:
            shown = await works.engine.documents.show(works.tenant_id, large.document_id)
            return shown.status == "embedding"

        await eventually(embedding, within=60)
        await works.index("A small note about herons.", "small.txt")
        shown = await works.engine.documents.show(works.tenant_id, large.document_id)
        assert shown.status == "embedding", "the small one overtook it"
        document = await works.settled(large.document_id, 100)
        assert (document.status, document.chunk_count) == ("indexed", 5000)


async def test_the_same_content_twice_at_once_runs_once_and_ends_both_ingestions(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        first, second = await works.hand_in(NOTE), await works.hand_in(NOTE)
        assert (second.created, second.document_id) == (False, first.document_id)
        async with works.working():
            await works.settled(first.document_id)
            assert (await works.event_names(first.document_id)).count("started") == 1
            for taken in (first, second):
                ended = await works.engine.documents.ingestion(works.tenant_id, taken.ingestion_id)
                assert ended.status == "indexed"


async def test_many_documents_keep_to_the_embedders_rate(database: Database, tmp_path: Path) -> None:
    simulator = EmbeddingsSimulator()
    async with serving(simulator.app) as url:
        limits = {"embedding_requests_per_minute": 240, "embedding_batch_size": 1, "ingest_concurrency": 10}
        async with works_on(database, tmp_path, **(_openai(url) | limits)) as works:
            ids = [(await works.hand_in(f"Note number {n}.", f"{n}.txt")).document_id for n in range(40)]
            async with works.working():
                await works.engine.warm()
                started = datetime.now(UTC)
                for document_id in ids:
                    assert (await works.settled(document_id)).status == "indexed"
                took = (datetime.now(UTC) - started).total_seconds()
        # 24 may go at once, the other 16 at four a second.
        assert simulator.calls == 40
        assert took >= 3.5
