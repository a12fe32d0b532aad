"""penstock eval: questions with known answers, one setting or two, and what is said about wrong input."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.simulators import EmbeddingsSimulator, Fault, RerankSimulator, serving
from penstock.simulators.embeddings import KEY
from tests.integration.test_gates import QUESTIONS, filled, judged, remote, set_gate, started
from tests.plugins.command_line import CommandLine, Ended
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on

pytestmark = pytest.mark.timeout(180)


def questions_in(folder: Path, *questions: tuple[str, str]) -> None:
    lines = [json.dumps({"question": question, "documents": [name]}) for question, name in questions]
    (folder / "set.jsonl").write_text("\n".join(lines))


async def evaluated(works: Works, command: CommandLine, first: str, second: str, *more: str) -> Ended:
    """`penstock eval` beside this loop, on which the simulators run."""
    words = ("eval", "set.jsonl", "--with", first, "--against", second, "--tenant", works.tenant.slug, *more)
    return await asyncio.to_thread(command, *words)


def found_by(told: Ended) -> list[list[list[str]]]:
    settings: list[dict[str, Any]] = told.json["settings"]
    return [[answer["found"] for answer in each["answers"]] for each in settings]


def test_questions_are_judged_with_one_setting_and_with_two(penstock: CommandLine) -> None:
    ours = penstock.with_variables(PENSTOCK_DATA_DIR="data", PENSTOCK_PARSE_PROCESSES="1")
    ours("tenant", "create", "default", "--json")
    notes = ours.folder / "notes"
    notes.mkdir()
    (notes / "gate.md").write_text("# Gate\n\nThe sluice gate was repaired by Ada in spring.\n")
    (notes / "wheel.md").write_text("# Wheel\n\nThe wheel turns slowly when the river is low.\n")
    ours("ingest", "notes", "--worker", "--json", timeout=180)
    questions = [
        {"question": "who repaired the sluice gate", "documents": ["gate.md"]},
        {"question": "sluice", "documents": ["notes/wheel.md"]},
        {"question": "gone", "documents": ["gone.md"]},
    ]
    (ours.folder / "set.jsonl").write_text("\n".join(map(json.dumps, questions)))

    told = ours("eval", "set.jsonl", "--with", "mode=text", "--against", "mode=vector", "--json")
    words, vectors = told.json["settings"]
    assert (words["setting"], vectors["setting"], words["questions"]) == ("mode=text", "mode=vector", 3)
    assert [answer["ndcg"] for answer in words["answers"]] == [1.0, 0.0, 0.0]
    assert [answer["ndcg"] for answer in vectors["answers"]] == [1.0, 0.6309, 0.0]
    assert [(each["question"], each["after"]) for each in told.json["changed"]] == [("sluice", 0.0)]
    assert told.json["unknown_documents"] == ["gone.md"]
    assert "no document is known as 'gone.md'" in told.err

    table = ours("eval", "set.jsonl", "--with", "mode=text", "--against", "mode=vector")
    assert "1 question worse than with mode=vector:\n  0.63 -> 0.00  sluice" in table.out
    assert "mode=vector  3          0.5436   0.6667     0.5000" in table.out
    assert ours("eval", "set.jsonl", "--fail-below", "0.9").code == 1
    assert ours("eval", "set.jsonl", "--fail-below", "0.1").code == 0
    for wrong, said in (("mode=deep", "mode"), ("depth=3", "is not a setting"), ("embedder=other", "other")):
        refused = ours("eval", "set.jsonl", "--with", wrong)
        assert refused.code != 0
        assert said in refused.err, wrong
    listed = ours("document", "list", "--json").json["documents"]
    (gate,) = [each["document_id"] for each in listed if each["filename"] == "gate.md"]
    twice = {"question": "sluice", "documents": [gate, "gate.md", "notes/gate.md"]}
    other = {"question": "sluice", "documents": ["wheel.md", gate, "gate.md"]}
    (ours.folder / "set.jsonl").write_text("\n".join(map(json.dumps, [twice, other])))
    told = ours("eval", "set.jsonl", "--with", "mode=text", "--json")
    assert [answer["recall"] for answer in told.json["settings"][0]["answers"]] == [1.0, 0.5]
    assert told.json["unknown_documents"] == []
    (ours.folder / "set.jsonl").write_text("{}")
    assert "line 1: question" in ours("eval", "set.jsonl").err
    assert "cannot read" in ours("eval", "none.jsonl").err


async def test_a_model_can_be_measured_while_its_index_is_only_staged(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    questions_in(penstock.folder, *((question, name) for question, (name,) in QUESTIONS))
    async with (
        serving(EmbeddingsSimulator().app) as url,
        works_on(database, tmp_path / "data", embedder="wordllama", **remote(url)) as works,
        works.working(),
    ):
        ours = penstock.with_variables(
            PENSTOCK_DATA_DIR=str(tmp_path / "data"),
            PENSTOCK_OPENAI_BASE_URL=f"{url}/v1",
            PENSTOCK_OPENAI_API_KEY=KEY,
            PENSTOCK_ALLOW_PRIVATE_ADDRESSES="true",
        )
        await filled(works)
        await set_gate(works)
        await started(works, "openai")
        gate = (await judged(works)).evaluation
        assert gate is not None

        # All documents have a vector of each model, so that a search by meaning lists them all.
        told = await evaluated(
            works, ours, "mode=vector,embedder=openai,staged=true", "mode=vector,embedder=wordllama", "--json"
        )
        assert told.code == 0, told.err
        assert {len(found) for side in found_by(told) for found in side} == {5}
        told = await evaluated(works, ours, "staged=true", "staged=false", "--json")
        figures = [each["ndcg"] for each in told.json["settings"]]
        assert figures == [gate.ndcg_after, gate.ndcg_before], "as the gate has measured"

        refused = await evaluated(works, ours, "embedder=openai", "embedder=wordllama")
        assert refused.code != 0
        assert "embedder=openai,staged=true" in refused.err
        refused = await evaluated(works, ours, "staged=perhaps", "staged=false")
        assert "staged: use true or false" in refused.err


async def test_what_a_reranker_gains_is_measured_and_one_that_fails_spoils_nothing(
    database: Database, tmp_path: Path, penstock: CommandLine
) -> None:
    questions_in(penstock.folder, ("grind wheel", "cart.md"))
    reranker = RerankSimulator(key="")
    async with (
        serving(reranker.app) as url,
        works_on(database, tmp_path / "data", embedder="wordllama") as works,
        works.working(),
    ):
        ours = penstock.with_variables(
            PENSTOCK_DATA_DIR=str(tmp_path / "data"), PENSTOCK_RERANKER=f"tei:{url}"
        )
        await works.index("Grinding wheels are turning.", "mill.md")
        await works.index("Among much about carts, roads, oxen and rain, one wheel is named.", "cart.md")
        told = await evaluated(works, ours, "rerank=true", "rerank=false", "--json")
        assert told.code == 0, told.err
        assert found_by(told) == [[["cart.md", "mill.md"]], [["mill.md", "cart.md"]]]
        assert [each["ndcg"] for each in told.json["settings"]] == [1.0, 0.6309]
        assert [(each["before"], each["after"]) for each in told.json["changed"]] == [(0.6309, 1.0)]
        assert reranker.calls == 2, "the question, and once before, which is not measured"
        reranker.faults.begin_outage(Fault("status", 503))
        failed = await evaluated(works, ours, "rerank=true", "rerank=false")
        assert failed.code != 0
        assert "the reranker did not answer" in failed.err
        assert "PENSTOCK_RERANKER" in failed.err
        assert "nDCG" not in failed.out
