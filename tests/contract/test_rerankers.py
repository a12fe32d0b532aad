"""Every reranker keeps the same contract, against a simulator that speaks the vendors' formats."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from penstock.errors import RerankerFailed, SettingInvalid
from penstock.search.reranking import Reranker, check_reranker, make_reranker
from penstock.settings import Settings
from penstock.simulators import Fault, RerankSimulator, busy, serving
from penstock.simulators.embeddings import KEY

PASSAGES = ["a gate", "the mill takes water", "water for the old mill at the gate"]
QUERY = "water of the mill"
VENDORS = ("cohere", "voyage:rerank-2.5-lite", "tei")
every_vendor = pytest.mark.parametrize("vendor", VENDORS)


def settings(address: str, name: str, **changes: object) -> Settings:
    values: dict[str, object] = {
        "reranker": f"tei:{address}/" if name == "tei" else name,
        "cohere_api_key": KEY,
        "cohere_base_url": address,
        "voyage_api_key": KEY,
        "voyage_base_url": address,
        "tei_api_key": KEY,
    }
    return Settings(_env_file=None, **{**values, **changes})


@asynccontextmanager
async def reranker(name: str, **changes: object) -> AsyncIterator[tuple[Reranker, RerankSimulator]]:
    simulator = RerankSimulator()
    async with serving(simulator.app) as address:
        made = make_reranker(settings(address, name, **changes))
        try:
            yield made, simulator
        finally:
            await made.close()


@every_vendor
async def test_scores_are_in_the_order_of_the_passages_not_of_the_answer(vendor: str) -> None:
    async with reranker(vendor) as (made, simulator):
        reranked = await made.rerank(QUERY, PASSAGES)
        assert reranked.scores == (0.0, 0.75, 0.75)
        assert reranked.calls == simulator.calls == 1
        assert reranked.tokens > 0


@every_vendor
@pytest.mark.parametrize(
    ("fault", "reason"),
    [
        (Fault("status", 503), "503"),
        (busy("7"), "429"),
        (Fault("not_json"), "invalid"),
        (Fault("disconnect"), "no answer"),
        (Fault("short"), "2 of 3"),
    ],
)
async def test_a_bad_answer_is_a_failure_that_repeats_nothing_it_sent(
    vendor: str, fault: Fault, reason: str
) -> None:
    async with reranker(vendor) as (made, simulator):
        simulator.faults.add(fault)
        with pytest.raises(RerankerFailed, match=reason) as failed:
            await made.rerank(QUERY, PASSAGES)
        assert KEY not in str(failed.value)
        assert QUERY not in str(failed.value)
        assert failed.value.retry_after == (7 if reason == "429" else None)


@pytest.mark.parametrize(("vendor", "variable"), [("cohere", "cohere_api_key"), ("voyage", "voyage_api_key")])
async def test_a_wrong_key_is_a_failure_and_a_missing_one_is_named_at_the_start(
    vendor: str, variable: str
) -> None:
    async with reranker(vendor, **{variable: "wrong"}) as (made, _):
        with pytest.raises(RerankerFailed, match="401"):
            await made.rerank(QUERY, PASSAGES)
    with pytest.raises(SettingInvalid, match=f"PENSTOCK_{variable.upper()}"):
        check_reranker(settings("http://127.0.0.1:1", vendor, **{variable: " "}))


@pytest.mark.parametrize("name", ["", "other", "tei", "tei:127.0.0.1:8080", "tei:file:///etc/passwd"])
def test_an_unknown_reranker_is_rejected_with_what_to_write(name: str) -> None:
    with pytest.raises(SettingInvalid, match=r"cohere\[:MODEL\], voyage\[:MODEL\] or tei:URL"):
        check_reranker(Settings(_env_file=None, reranker=name))


async def test_cohere_is_asked_for_every_passage() -> None:
    async with reranker("cohere") as (made, simulator):
        await made.rerank(QUERY, PASSAGES)
        assert made.model == "cohere:rerank-v3.5"
        assert simulator.bodies == [
            {"model": "rerank-v3.5", "query": QUERY, "documents": PASSAGES, "top_n": 3}
        ]


async def test_voyage_counts_its_own_tokens() -> None:
    async with reranker("voyage:rerank-2.5-lite") as (made, simulator):
        reranked = await made.rerank(QUERY, PASSAGES)
        assert simulator.bodies[0]["model"] == "rerank-2.5-lite"
        assert reranked.tokens == sum(len(f"{QUERY} {each}".split()) for each in PASSAGES)


async def test_tei_gets_at_most_32_passages_in_a_request() -> None:
    async with reranker("tei") as (made, simulator):
        passages = [f"water {place}" if place % 2 else f"mill water {place}" for place in range(50)]
        reranked = await made.rerank(QUERY, passages)
        assert [len(body["texts"]) for body in simulator.bodies] == [32, 18]
        assert reranked.scores == tuple(0.25 if place % 2 else 0.5 for place in range(50))
        assert reranked.calls == 2


async def test_tei_needs_no_key() -> None:
    async with reranker("tei", tei_api_key=None) as (made, simulator):
        simulator.key = ""
        assert len((await made.rerank(QUERY, PASSAGES)).scores) == 3
