"""A re-index on the workers: each document once, whatever happens to workers, embedder and documents."""

from __future__ import annotations

import asyncio
import hashlib
from collections import Counter
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from penstock.cli.demo import files as demo_files
from penstock.documents.reindexes import ReindexRun
from penstock.simulators import EmbeddingsSimulator, busy, serving
from penstock.simulators.embeddings import KEY
from tests.integration.api_server import api_server, assert_problem
from tests.plugins.command_line import CommandLine
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import Crew, eventually

pytestmark = pytest.mark.timeout(180)

TIMES = "select event, document_id, count(*) from ingest.document_event where event = $1 group by 1, 2"


def openai(url: str) -> dict[str, Any]:
    return {"openai_base_url": f"{url}/v1", "openai_api_key": KEY}


async def hand_in_some(works: Works, count: int) -> list[UUID]:
    """Documents of one chunk each, indexed; every third has the text of the first."""
    taken = [
        await works.hand_in(
            f"# Gate\n\nThe sluice gate number {0 if n % 3 == 0 else n} holds.",
            f"{n}.md",
            external_id=f"d{n}",
        )
        for n in range(count)
    ]
    for each in taken:
        assert (await works.settled(each.document_id)).status == "indexed"
    return [each.document_id for each in taken]


async def start(works: Works, **named: Any) -> ReindexRun:
    return await works.engine.reindexes.start(works.tenant_id, "default", by="tests", **named)


async def ended(works: Works, run_id: UUID, within: float = 90) -> ReindexRun:
    async def is_over() -> bool:
        return not (await works.engine.reindexes.show(works.tenant_id, run_id)).is_open

    await eventually(is_over, within=within, every=0.1, what="the re-index ends")
    return await works.engine.reindexes.show(works.tenant_id, run_id)


async def times(works: Works, event: str) -> Counter[UUID]:
    """How often each document had an event."""
    async with works.database.connect("admin") as admin:
        return Counter({row["document_id"]: row["count"] for row in await admin.fetch(TIMES, event)})


async def test_no_text_is_embedded_twice_neither_by_a_switch_nor_by_the_next_run(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with (
        serving(simulator.app) as url,
        works_on(
            database,
            tmp_path,
            embedder="wordllama",
            embedding_price_per_million_tokens=1_000_000,
            **openai(url),
        ) as works,
        works.working(),
    ):
        documents = await hand_in_some(works, 9)
        run = await ended(works, (await start(works, embedder="openai", shard_documents=4)).run_id)
        assert (run.state, run.documents, run.indexed, run.shards) == ("done", 9, 9, 3)
        sent = Counter(text for body in simulator.bodies for text in body["input"] if text != "penstock")
        assert len(sent) == 7  # three documents have the same text
        assert set(sent.values()) == {1}
        assert (run.embedded, run.reused) == (7, 2)
        assert run.cost == run.embedded_tokens > 0
        assert await times(works, "embedder_switched") == dict.fromkeys(documents, 1)
        before = simulator.texts
        again = await ended(works, (await start(works)).run_id)
        assert (again.indexed, again.embedded, again.reused, again.cost) == (9, 0, 9, 0)
        assert simulator.texts == before
        assert await times(works, "reindexed") == dict.fromkeys(documents, 1)
        assert len({hit.document_id for hit in await works.find("sluice gate", limit=50)}) == 9


async def test_a_busy_embedder_uses_no_attempt_and_the_run_says_what_it_waits_for(
    database: Database, tmp_path: Path
) -> None:
    simulator = EmbeddingsSimulator()
    async with (
        serving(simulator.app) as url,
        works_on(database, tmp_path, embedder="wordllama", **openai(url)) as works,
        works.working(),
    ):
        await hand_in_some(works, 3)
        await works.engine.embedders.embedder("openai")
        simulator.faults.add(busy("7"), times=4)
        run_id = (await start(works, embedder="openai")).run_id

        async def waits() -> bool:
            shown = await works.engine.reindexes.show(works.tenant_id, run_id)
            return shown.waits_until is not None and "slow down" in (shown.reason or "")

        await eventually(waits, within=60)
        run = await ended(works, run_id)
        assert (run.state, run.failed, run.indexed, run.reason) == ("done", 0, 3, None)
        lost = "select count(*) from queues.attempt where outcome in ('failed', 'lost')"
        assert await works.value(lost) == 0


async def test_a_tenant_out_of_budget_waits_and_keeps_what_it_has(database: Database, tmp_path: Path) -> None:
    simulator = EmbeddingsSimulator()
    async with (
        serving(simulator.app) as url,
        works_on(database, tmp_path, embedder="wordllama", **openai(url)) as works,
        works.working(),
    ):
        await hand_in_some(works, 2)
        await works.engine.accounts.set_tenant(works.tenant_id, monthly_token_budget=1)
        run_id = (await start(works, embedder="openai")).run_id

        async def waits() -> bool:
            shown = await works.engine.reindexes.show(works.tenant_id, run_id)
            return "tokens" in (shown.reason or "") and shown.held_shards == 0

        await eventually(waits, within=60)
        assert simulator.texts == 0
        assert len(await works.find("sluice gate", mode="vector")) == 2
        await works.engine.accounts.set_tenant(works.tenant_id, monthly_token_budget=None)
        async with database.connect("operator") as operator:
            task_id = await works.value("select task_id from ingest.bulk_shard")
            await operator.execute("select queues.run_now($1)", task_id)
        assert (await ended(works, run_id)).state == "done"


async def test_two_drivers_and_the_workers_at_once_do_each_shard_once(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        async with works.working():
            documents = await hand_in_some(works, 12)
            run = await start(works, engine="ray", shard_documents=2)
            calls = works.engine.bulk_calls
            while await calls.plan(works.tenant_id, run.run_id):
                pass
            runner = await works.engine.shard_runner()

            async def drive(name: str) -> int:
                closed = 0
                while open_shards := await calls.open_shards(works.tenant_id, run.run_id, [], 10):
                    for each in open_shards:
                        result = await runner.run(works.tenant_id, run.run_id, each.shard, name)
                        closed += result.indexed
                return closed

            await works.engine.reindexes.resume(works.tenant_id, run.run_id, "queue")
            counted = await asyncio.gather(drive("one"), drive("two"))
            over = await ended(works, run.run_id)
        assert over.state == "done"
        assert (over.documents, over.indexed) == (12, 12)
        assert sum(counted) <= 12
        assert await times(works, "reindexed") == dict.fromkeys(documents, 1)


async def test_a_stopped_run_leaves_what_is_done_and_a_resumed_one_does_the_rest(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        async with works.working():
            documents = await hand_in_some(works, 6)
        run = await start(works, shard_documents=2)
        calls, runner = works.engine.bulk_calls, await works.engine.shard_runner()
        await calls.plan(works.tenant_id, run.run_id)
        assert (await runner.run(works.tenant_id, run.run_id, 0, "one")).indexed == 2
        stopped = await works.engine.reindexes.stop(works.tenant_id, run.run_id, "ann")
        assert (stopped.state, stopped.done, stopped.hint is not None) == ("stopped", 2, True)
        assert (await runner.run(works.tenant_id, run.run_id, 1, "one")).outcome == "ended"
        await works.engine.reindexes.resume(works.tenant_id, run.run_id)
        async with works.working():
            over = await ended(works, run.run_id)
        assert (over.state, over.indexed) == ("done", 6)
        assert await times(works, "reindexed") == dict.fromkeys(documents, 1)


async def test_the_timeline_says_how_a_re_index_read_the_pages(database: Database, tmp_path: Path) -> None:
    content = demo_files.pdf("Figures", [["The year so far."]])
    async with works_on(database, tmp_path) as works, works.working():
        document = await works.index(content, "figures.pdf")
        run = await ended(works, (await start(works)).run_id)
        events = await works.engine.documents.events(works.tenant_id, document.document_id, limit=100)
        details = {each.event: each.detail or {} for each in events.items}
        assert details["reindexed"]["run_id"] == str(run.run_id)
        assert details["reindexed"]["parser"] == document.parser
        own = [detail["pdf_reading"] for detail in details.values() if "pdf_reading" in detail]
        assert len(own) == 2
        assert details["reindexed"]["pdf_reading"] == own[0]


@pytest.mark.parametrize("embedder", ["openai", None])
async def test_killed_workers_leave_every_document_indexed_once_and_embed_nothing_again(
    database: Database, tmp_path: Path, crew: Crew, embedder: str | None
) -> None:
    simulator = EmbeddingsSimulator()
    async with (
        serving(simulator.app) as url,
        works_on(database, tmp_path, embedder="wordllama", **openai(url)) as works,
    ):
        async with works.working():
            documents = await hand_in_some(works, 30)
        settings = {
            "data_dir": tmp_path,
            "parse_processes": 1,
            "lease_seconds": 2,
            "beat_seconds": 0.4,
            "allow_private_addresses": True,
            "embedder": "wordllama",
            **openai(url),
        }
        run_id = (await start(works, embedder=embedder, shard_documents=5)).run_id
        kept: list[tuple[int, set[bytes]]] = []
        for kill in range(2):
            worker = crew.spawn("penstock", "worker", **settings)
            begun = simulator.texts

            async def in_work(begun: int = begun) -> bool:
                held = await works.value(
                    "select count(*) from ingest.bulk_shard where closed_at is null and lease_until > now()"
                )
                return bool(held) and (embedder is None or simulator.texts > begun)

            await eventually(in_work, within=60, every=0.01, what=f"worker {kill} works")
            crew.kill(worker)
            async with database.connect("admin") as admin:
                rows = await admin.fetch(
                    "select text_sha256 from ingest.embedding_cache where model ~ 'openai'"
                )
            kept.append((len(simulator.bodies), {row[0] for row in rows}))
        crew.spawn("penstock", "worker", **settings)
        run = await ended(works, run_id)
        assert (run.state, run.documents, run.indexed, run.failed) == ("done", 30, 30, 0)
        for event in ("reindexed",) if embedder is None else ("staged", "embedder_switched"):
            assert await times(works, event) == dict.fromkeys(documents, 1), event
        assert await works.value("select max(token) from ingest.bulk_shard") > 1, "no kill hit a shard"
        if embedder is None:
            assert (run.embedded, run.reused) == (0, 30)
        for position, cached in kept:
            later = [text for body in simulator.bodies[position:] for text in body["input"]]
            assert not cached & {hashlib.sha256(text.encode()).digest() for text in later}
        doubled = await works.value(
            "select count(*) from (select 1 from ingest.chunk c join ingest.document d using (document_id)"
            " where c.generation = d.live_generation group by c.document_id, c.ordinal having count(*) > 1) x"
        )
        assert doubled == 0


async def test_qdrant_finds_exactly_the_new_generation_after_a_reindex(
    database: Database, tmp_path: Path
) -> None:
    pytest.importorskip("qdrant_client")
    folder: dict[str, Any] = {"index": "qdrant", "qdrant_url": str(tmp_path / "qdrant")}
    async with works_on(database, tmp_path, **folder) as works, works.working():
        documents = await hand_in_some(works, 4)
        run = await ended(works, (await start(works, shard_documents=2)).run_id)
        assert (run.state, run.indexed) == ("done", 4)
        hits = await works.find("sluice gate holds", limit=50)
        assert Counter(hit.document_id for hit in hits) == dict.fromkeys(documents, 1)
        live = await works.value("select array_agg(live_generation) from ingest.document")
        assert set(live) == {2}


async def test_a_reindex_is_started_followed_stopped_and_resumed_over_http(
    database: Database, tmp_path: Path
) -> None:
    async with api_server(database, tmp_path) as server, server.client() as client:
        async with server.working():
            sent = await client.post(
                "/v1/documents/upload",
                params={"wait": 30},
                files={"file": ("a.txt", b"The gate holds.", "text/plain")},
            )
            assert sent.json()["document"]["status"] == "indexed", sent.text
        assert_problem(await client.post("/v1/reindexes", json={"project": "nowhere"}), 404, "project")
        assert_problem(await client.post("/v1/reindexes", json={"embedder": "nonsense"}), 422, "embedder")
        assert_problem(
            await client.post("/v1/reindexes", json={"shard_documents": 0}), 422, "shard_documents"
        )
        begun = await client.post("/v1/reindexes", json={})
        assert begun.status_code == 202, begun.text
        path = f"/v1/reindexes/{begun.json()['run_id']}"
        assert (await client.post("/v1/reindexes", json={})).json()["run_id"] == begun.json()["run_id"]
        _, foreign = await server.another_tenant("other")
        async with server.client(foreign) as other:
            for method, call in (("GET", path), ("POST", f"{path}/stop"), ("POST", f"{path}/resume")):
                assert_problem(await other.request(method, call), 404, "run_id")
            assert (await other.get("/v1/reindexes")).json()["items"] == []
        async with server.client(await server.another_key("documents:read")) as viewer:
            assert (await viewer.get(path)).status_code == 200
            assert_problem(await viewer.post(f"{path}/stop"), 403, "scope")
            assert_problem(await viewer.post("/v1/reindexes", json={}), 403, "scope")
        stopped = (await client.post(f"{path}/stop")).json()
        assert stopped["state"] == "stopped"
        assert "penstock reindex resume" in stopped["hint"]
        assert (await client.post(f"{path}/resume")).status_code == 202

        async def done() -> bool:
            return bool((await client.get(path)).json()["state"] == "done")

        async with server.working():
            await eventually(done, within=60, every=0.1)
        shown = (await client.get(path)).json()
        assert (shown["documents"], shown["indexed"], shown["cost"]) == (1, 1, None)
        assert_problem(await client.post(f"{path}/resume"), 409, "run_id")
        listed = (await client.get("/v1/reindexes")).json()
        assert [each["run_id"] for each in listed["items"]] == [shown["run_id"]]
        assert_problem(await client.get("/v1/reindexes", params={"cursor": "x"}), 422, "cursor")


def test_the_command_reindexes_shows_stops_and_resumes(penstock: CommandLine) -> None:
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    assert ours("tenant", "create", "default", "--json").json["slug"] == "default"
    (ours.folder / "gate.md").write_text("# The gate\n\nThe sluice gate opens at dawn.\n")
    assert ours("ingest", "gate.md", "--worker", "--json", timeout=120).json["counts"] == {"indexed": 1}
    run = ours("reindex", "--worker", "--json", timeout=120).json
    assert (run["state"], run["indexed"], run["embedded"], run["reused"]) == ("done", 1, 0, 1)
    assert "1 document re-indexed" in ours("reindex", "--worker", timeout=120).out
    waiting = ours("reindex", "--no-wait", "--json").json
    assert waiting["state"] == "planning"
    listed = ours("reindex", "status", "--json").json["reindexes"]
    assert listed[0]["run_id"] == waiting["run_id"]
    assert len(listed) == 3
    would = ours("reindex", "stop", waiting["run_id"], "--dry-run", "--json").json
    assert (would["dry_run"], would["count"]) == (True, waiting["documents"] - waiting["done"])
    assert ours("reindex", "status", waiting["run_id"], "--json").json["state"] == waiting["state"]
    assert ours("reindex", "stop", waiting["run_id"], "--json").json["state"] == "stopped"
    assert ours("reindex", "stop", waiting["run_id"], "--dry-run", "--json").json["count"] == 0
    assert "stopped by" in ours("reindex", "status", waiting["run_id"]).out
    assert (
        ours("reindex", "resume", waiting["run_id"], "--worker", "--json", timeout=120).json["state"]
        == "done"
    )
    wrong = ours("reindex", "--engine", "spark")
    assert (wrong.code, "queue or --engine ray" in wrong.err) == (1, True)
    assert "Omit --address" in ours("reindex", "--address", "auto").err
    assert "penstock[ray]" in ours("reindex", "--engine", "ray").err or _has_ray()


def _has_ray() -> bool:
    from importlib.util import find_spec

    return find_spec("ray") is not None
