"""A project's gate with workers at work: what finds worse than before does not go live by itself."""

from __future__ import annotations

import asyncio
import sys
from importlib.util import find_spec
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast
from uuid import UUID

import pytest

from penstock.cli.reindex.ray_driving import drive
from penstock.cli.tenant_session import TenantSession
from penstock.model.gate import Gate
from penstock.search.gate import GateEvaluating
from penstock.simulators import EmbeddingsSimulator, RerankSimulator, serving
from penstock.simulators.embeddings import KEY
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import Crew, eventually

pytestmark = pytest.mark.timeout(180)

NOTES = {
    "physician.md": "A doctor examines ill people and prescribes medicine.",
    "automobile.md": "The car has four wheels and an engine.",
    "banking.md": "Money is deposited into an account and earns interest.",
    "river.md": "Water flows downhill to the sea.",
    "kitchen.md": "The cook prepares soup, bread and roast vegetables.",
}
QUESTIONS = [
    ("hospital physicians treating patients", ("physician.md",)),
    ("vehicles and driving", ("automobile.md",)),
    ("finance and savings", ("banking.md",)),
    ("streams and oceans", ("river.md",)),
    ("meals and recipes", ("kitchen.md",)),
]
"""No word of a question is in its document: only a model that understands them finds it."""


INFLECTED = {
    "mill.md": ("Grinding wheels are turning.", "grind wheel"),
    "farm.md": ("Growing tomatoes needs watering.", "grow tomato"),
    "port.md": ("Loading ships and sailing boats.", "load boat"),
    "song.md": ("Singing voices and playing drums.", "sing drum"),
}
"""Only stems lead from a question to its document."""
LIVE = "select document_id, live_generation, indexed_pipeline from ingest.document order by 1"


def remote(url: str) -> dict[str, Any]:
    """A model whose vectors say nothing about a text's meaning."""
    return {"openai_base_url": f"{url}/v1", "openai_api_key": KEY}


async def filled(works: Works) -> None:
    taken = [await works.hand_in(f"# Note\n\n{text}", name) for name, text in NOTES.items()]
    for each in taken:
        assert (await works.settled(each.document_id)).status == "indexed"


async def set_gate(works: Works, **named: Any) -> Gate:
    return await works.engine.gates.set(
        works.tenant_id, "default", by="ada", questions=named.pop("questions", QUESTIONS), **named
    )


async def started(works: Works, embedder: str | None = None) -> UUID:
    run = await works.engine.reindexes.start(works.tenant_id, "default", by="ada", embedder=embedder)
    return run.run_id


async def judged(works: Works) -> Gate:
    """The gate once its newest evaluation was made."""

    async def is_judged() -> bool:
        found = (await works.engine.gates.show(works.tenant_id, "default")).evaluation
        return found is not None and found.state != "asking"

    await eventually(is_judged, within=90, every=0.1, what="the questions were asked")
    return await works.engine.gates.show(works.tenant_id, "default")


async def ended(works: Works, run_id: UUID) -> str:
    async def is_over() -> bool:
        return not (await works.engine.reindexes.show(works.tenant_id, run_id)).is_open

    await eventually(is_over, within=90, every=0.1, what="the re-index ends")
    return (await works.engine.reindexes.show(works.tenant_id, run_id)).state


async def embedder_of(works: Works) -> str:
    return (await works.engine.accounts.show_project(works.tenant_id, "default")).embedder


async def test_a_model_that_finds_worse_does_not_go_live_until_somebody_accepts_it(
    database: Database, tmp_path: Path
) -> None:
    async with (
        serving(EmbeddingsSimulator().app) as url,
        works_on(database, tmp_path, embedder="wordllama", **remote(url)) as works,
        works.working(),
    ):
        await filled(works)
        await set_gate(works, questions=[*QUESTIONS, ("nobody", ("gone.md",))])
        before = [hit.document_id for hit in await works.find(QUESTIONS[0][0], mode="vector")]
        run_id = await started(works, "openai")
        gate = await judged(works)
        found = gate.evaluation
        assert found is not None
        assert (found.state, found.from_embedder, found.to_embedder) == ("failed", "wordllama", "openai")
        assert found.ndcg_before is not None
        assert found.ndcg_after is not None
        assert found.ndcg_after < found.ndcg_before
        assert found.unknown_documents == ["gone.md"]
        assert found.worse_count == len(found.worse) > 0

        async def says_why() -> bool:
            shown = await works.engine.reindexes.show(works.tenant_id, run_id)
            return "to go live anyway: penstock project gate accept default" in (shown.reason or "")

        await eventually(says_why, within=30)
        shown = await works.engine.reindexes.show(works.tenant_id, run_id)
        assert shown.waits_for_a_person
        assert await embedder_of(works) == "wordllama"
        hits = await works.find(QUESTIONS[0][0], mode="vector")
        assert [hit.document_id for hit in hits] == before
        assert {hit.model for hit in hits} == {"wordllama-l2-supercat-256"}
        await works.engine.gates.accept(works.tenant_id, "default", "ada")
        assert await ended(works, run_id) == "done"
        assert await embedder_of(works) == "openai"
        (kept,) = await works.engine.gates.evaluations(works.tenant_id, "default")
        assert (kept.state, kept.decided_by, kept.ndcg_after) == ("accepted", "ada", found.ndcg_after)

        # Back to the better model: it goes live by itself.
        assert await ended(works, await started(works, "wordllama")) == "done"
        assert await embedder_of(works) == "wordllama"
        newest = (await judged(works)).evaluation
        assert newest is not None
        assert (newest.state, newest.worse_count > 0) == ("passed", False)
        assert [hit.document_id for hit in await works.find(QUESTIONS[0][0], mode="vector")] == before


async def test_a_re_index_that_finds_worse_does_not_go_live_and_a_cancel_gives_its_room_back(
    database: Database, tmp_path: Path
) -> None:
    async with (
        serving(EmbeddingsSimulator().app) as url,
        works_on(database, tmp_path, embedder="openai", **remote(url)) as works,
        works.working(),
    ):
        for name, (text, _) in INFLECTED.items():
            await works.index(text, name)
        await set_gate(works, questions=[(question, (name,)) for name, (_, question) in INFLECTED.items()])
        live = await works.rows(LIVE)
        await works.engine.accounts.set_project(works.tenant_id, "default", text_config="simple")
        run_id = await started(works)
        gate = await judged(works)
        found = gate.evaluation
        assert found is not None
        assert (found.state, found.ndcg_before, gate.waiting) == ("failed", 1.0, run_id)
        assert await works.value("select count(*) from ingest.document where staged_generation = 2") == 4
        assert await works.rows(LIVE) == live
        await works.engine.gates.cancel(works.tenant_id, "default", "ada")
        assert await ended(works, run_id) == "stopped"
        await works.engine.index.maintain()
        for table in ("chunk", "chunk_vector", "posting"):
            assert await works.value(f"select count(*) from ingest.{table} where generation <> 1") == 0
        assert await works.rows(LIVE) == live
        assert (await works.find("grind wheel", mode="text"))[0].filename == "mill.md"


async def test_an_embedder_that_is_unavailable_delays_the_questions_and_uses_no_attempt(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("penstock.search.gate.WAIT_SECONDS", 0.2)
    simulator = EmbeddingsSimulator()
    async with (
        serving(simulator.app) as url,
        works_on(database, tmp_path, embedder="wordllama", **remote(url)) as works,
        works.working(),
    ):
        await filled(works)
        await set_gate(works, mode="warn")
        monkeypatch.setattr(GateEvaluating, "_evaluation", evaluating_without_a_key(simulator))
        run_id = await started(works, "openai")

        async def waits() -> bool:
            found = (await works.engine.gates.show(works.tenant_id, "default")).evaluation
            return found is not None and found.waits_for is not None

        await eventually(waits, within=60)
        simulator.key = KEY
        assert await ended(works, run_id) == "done"
        assert await embedder_of(works) == "openai"
        failed = "select count(*) from queues.attempt where outcome in ('failed', 'lost')"
        assert await works.value(failed) == 0


def evaluating_without_a_key(simulator: EmbeddingsSimulator) -> Any:
    """The first evaluation meets a vendor that rejects our key."""
    real = GateEvaluating._evaluation
    simulator_key = [f"not {KEY}"]

    async def evaluation(self: GateEvaluating, *arguments: Any) -> Any:
        if simulator_key:
            simulator.key = simulator_key.pop()
        return await real(self, *arguments)

    return evaluation


async def test_a_reranker_that_does_not_answer_delays_the_questions_instead_of_judging_without_it(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It rests after an error, so that one side would be judged in the reranker's order, the other not."""
    monkeypatch.setattr("penstock.search.gate.WAIT_SECONDS", 0.2)
    reranker = RerankSimulator(key="")
    async with (
        serving(reranker.app) as url,
        works_on(database, tmp_path, embedder="wordllama", reranker=f"tei:{url}") as works,
        works.working(),
    ):
        await works.index("Grinding wheels are turning.", "mill.md")
        await works.index("Among much about carts, roads, oxen and rain, one wheel is named.", "cart.md")
        found = {
            rerank: (await works.find("grind wheel", rerank=rerank))[0].filename for rerank in (True, False)
        }
        assert found == {True: "cart.md", False: "mill.md"}
        await set_gate(works, questions=[("grind wheel", ("cart.md",))])
        real = GateEvaluating._evaluation

        async def evaluation(self: GateEvaluating, *arguments: Any) -> Any:
            if arguments[-1] == "staged" and not outages:
                outages.append(arguments)
                reranker.faults.begin_outage()
            return await real(self, *arguments)

        outages: list[object] = []
        monkeypatch.setattr(GateEvaluating, "_evaluation", evaluation)
        run_id = await started(works)

        async def waits() -> bool:
            shown = await works.engine.reindexes.show(works.tenant_id, run_id)
            return shown.reason == "waits for its gate: the reranker did not answer"

        await eventually(waits, within=60)
        reranker.faults.clear()
        assert await ended(works, run_id) == "done"
        (kept,) = await works.engine.gates.evaluations(works.tenant_id, "default")
        assert (kept.state, kept.ndcg_before, kept.ndcg_after) == ("passed", 1.0, 1.0)


async def test_a_ray_driver_returns_when_the_gate_waits_for_a_person_and_an_accept_needs_no_driver(
    database: Database, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if find_spec("ray") is None:  # every shard is closed, so that nothing is given to Ray
        chosen = SimpleNamespace(options=lambda **_: None)
        monkeypatch.setitem(sys.modules, "ray", SimpleNamespace(remote=lambda _: chosen))
    async with (
        serving(EmbeddingsSimulator().app) as url,
        works_on(database, tmp_path, embedder="openai", **remote(url)) as works,
        works.working(),
    ):
        for name, (text, _) in INFLECTED.items():
            await works.index(text, name)
        await set_gate(works, questions=[(question, (name,)) for name, (_, question) in INFLECTED.items()])
        await works.engine.accounts.set_project(works.tenant_id, "default", text_config="simple")
        run_id = (
            await works.engine.reindexes.start(works.tenant_id, "default", by="ada", engine="ray")
        ).run_id
        await staged(works, run_id)
        session = TenantSession(works.engine, cast("Any", None), cast("Any", None))
        async with asyncio.timeout(90):
            shown = await drive(session, works.tenant_id, run_id, cpus=0.5, gpus=0, quiet=True)
        assert shown.waits_for_a_person
        assert "penstock project gate accept default" in (shown.reason or "")
        await works.engine.gates.accept(works.tenant_id, "default", "ada")
        assert await ended(works, run_id) == "done"
        assert await works.value("select count(*) from ingest.document where live_generation = 2") == 4


async def staged(works: Works, run_id: UUID) -> None:
    """Run every shard of a re-index here."""
    calls, runner = works.engine.bulk_calls, await works.engine.shard_runner()
    while await calls.plan(works.tenant_id, run_id):
        pass
    for each in await calls.open_shards(works.tenant_id, run_id, [], 10):
        await runner.run(works.tenant_id, run_id, each.shard, "test")


async def test_a_worker_killed_between_the_verdict_and_going_live_leaves_it_to_the_next(
    database: Database, tmp_path: Path, crew: Crew
) -> None:
    settings: dict[str, Any] = {
        "data_dir": tmp_path,
        "parse_processes": 1,
        "lease_seconds": 2,
        "beat_seconds": 0.4,
    }
    new = "select count(*) from ingest.document where live_generation = 2"
    async with works_on(database, tmp_path, embedder="wordllama") as works:
        async with works.working():
            await filled(works)
        await set_gate(works)
        run_id = await started(works)
        await staged(works, run_id)
        assert await works.engine.bulk_calls.finish(works.tenant_id, run_id) == "waiting"
        async with database.connect("admin") as admin, admin.transaction():
            await admin.execute("select from accounts.project for no key update")  # so that it cannot go live
            first = crew.spawn("penstock", "worker", **settings)
            gate = await judged(works)
            assert gate.evaluation is not None
            assert gate.evaluation.state == "passed"
            crew.kill(first)
        assert await works.value(new) == 0
        crew.spawn("penstock", "worker", **settings)
        assert await ended(works, run_id) == "done"
        assert await works.value(new) == 5
        assert await works.value("select count(*) from ingest.gate_evaluation") == 1
