"""Relevance: a search that nothing fits says so, and the order of the hits stays what it was."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from penstock.search import SearchQuery
from penstock.search.relevance import CURVES, FLOOR, STANDING, WORDS, Curve
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.sql.indexed_tenant import indexed_tenant

PAGES = {
    "gate.md": "# The gate\n\nThe sluice gate is opened at noon by the miller.",
    "wheel.md": "# The wheel\n\nThe water wheel drives two millstones. Its bearings are greased every month.",
    "prices.md": "# Prices\n\nGrinding a sack of wheat costs four coins. Rye is three coins a sack.",
    "repairs.md": "# Repairs\n\nA broken paddle is replaced with oak. The carpenter keeps twenty.",
}
MEASURED = json.loads((Path(__file__).parents[2] / "bench" / "results" / "relevance.json").read_text())


async def test_nonsense_is_called_no_good_match_and_a_good_question_is_not(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        for name, text in PAGES.items():
            await works.index(text, name)

        async def ask(query: str, **options: float) -> tuple[bool, list[str | None], list[float]]:
            asked = SearchQuery(query=query, **options)  # type: ignore[arg-type]  # min_score alone
            answer = await works.engine.search.search(works.tenant_id, asked)
            hits = answer.hits
            return answer.no_good_match, [hit.filename for hit in hits], [hit.relevance for hit in hits]

        none, found, relevance = await ask("when is the sluice gate opened")
        assert (none, found[0]) == (False, "gate.md")
        assert relevance[0] >= FLOOR
        none, found, relevance = await ask("symptoms of appendicitis in children")
        assert none
        assert found, "the nearest are listed all the same"
        assert max(relevance) < FLOOR
        assert await ask("symptoms of appendicitis in children", min_score=0.5) == (True, [], [])
        none, found, _ = await ask("when is the sluice gate opened", min_score=0.5)
        assert (none, found[0]) == (False, "gate.md")


async def test_the_order_is_that_of_the_score_whatever_the_relevance(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for text in ("the sluice gate", "a gate", "sluice and wheel", "nothing of the kind"):
            await tenant.put(text)
        for mode in ("hybrid", "vector", "text"):
            query = SearchQuery(query="sluice gate wheel", mode=mode)
            scores = [hit.score for hit in (await tenant.search.search(tenant.tenant_id, query)).hits]
            assert scores == sorted(scores, reverse=True)
            assert len(scores) > 1


async def test_the_relevance_of_a_hit_by_words_alone_is_its_coverage(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("the sluice gate at noon")
        await tenant.put("a gate")
        full, part = await tenant.find("sluice gate noon", mode="text")
        assert full.coverage == pytest.approx(1)
        assert part.coverage is not None
        assert 0 < part.coverage < 0.5
        assert part.relevance < FLOOR < full.relevance


async def test_a_model_without_calibration_is_judged_by_the_tenants_background(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for number in range(40):
            await tenant.put(f"item{number} of the stock number{number} in hall{number}")
        wanted = await tenant.put("sluice gates rust in winter")
        (first, *others) = await tenant.find("sluice gates rust in winter", mode="vector")
        assert first.document_id == wanted
        assert first.relevance > FLOOR > max(hit.relevance for hit in others)


@pytest.mark.parametrize("model", list(CURVES))
def test_the_curves_are_those_that_were_measured(model: str) -> None:
    by_model = {each["model"]: each["weights"] for each in MEASURED.values() if each["model"]}
    assert CURVES[model] == Curve(*by_model[model])
    assert Curve(*MEASURED["standing any"]["weights"]) == STANDING
    bias, coverage = MEASURED["words any"]["weights"]
    assert Curve(bias, 0.0, coverage) == WORDS


def test_relevance_grows_with_similarity_and_with_words() -> None:
    for curve in (*CURVES.values(), STANDING):
        assert curve.at(0.2, 0.0) < curve.at(0.6, 0.0) < curve.at(0.6, 0.8)
    assert WORDS.at(0, 0.1) < FLOOR < WORDS.at(0, 1)
