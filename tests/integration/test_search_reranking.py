"""A search with a reranker: the order it gives, its limits, and what happens without it."""

from __future__ import annotations

import dataclasses
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import pytest

from penstock.errors import InvalidArgument, RerankerFailed
from penstock.model import TenantId
from penstock.search import Search, SearchAnswer, SearchQuery
from penstock.search.reranking import Reranked, make_reranker
from penstock.search.reranking.ordering import Reranking
from penstock.settings import Settings
from penstock.simulators import Fault, RerankSimulator, serving
from tests.plugins.database import Database
from tests.sql.indexed_tenant import Embedders, IndexedTenant, indexed_tenant


class ByLength:
    """Prefers long passages, or fails."""

    model = "test:by-length"

    def __init__(self) -> None:
        self.sent: list[list[str]] = []
        self.failure: RerankerFailed | None = None

    async def rerank(self, query: str, passages: Sequence[str]) -> Reranked:
        self.sent.append(list(passages))
        if self.failure is not None:
            raise self.failure
        return Reranked(tuple(float(len(each)) for each in passages), tokens=11)

    async def close(self) -> None: ...


@dataclasses.dataclass(frozen=True)
class RerankedTenant:
    tenant: IndexedTenant
    search: Search
    reranker: ByLength

    async def ask(self, query: str, **options: Any) -> SearchAnswer:
        tenant_id: TenantId = self.tenant.tenant_id
        return await self.search.search(tenant_id, SearchQuery(query=query, **options))


@asynccontextmanager
async def reranked(database: Database, passages: int = 50) -> AsyncIterator[RerankedTenant]:
    async with indexed_tenant(database) as tenant:
        reranker = ByLength()
        reranking = Reranking(reranker, passages=passages, seconds=2)
        embedders = Embedders(words=tenant.words)
        yield RerankedTenant(
            tenant, Search(tenant.tenants, embedders, tenant.index, reranking=reranking), reranker
        )


async def test_hits_are_in_the_order_of_the_reranker_and_its_use_is_counted(database: Database) -> None:
    async with reranked(database) as asked:
        short = await asked.tenant.put("penstock gate", title="Short")
        long = await asked.tenant.put("a penstock, among much that has nothing to do with it", title="Long")
        before = await asked.ask("penstock gate", rerank=False)
        assert [hit.document_id for hit in before.hits] == [short, long]
        assert before.hits[0].rerank_score is None
        assert asked.reranker.sent == []
        after = await asked.ask("penstock gate")
        assert [hit.document_id for hit in after.hits] == [long, short]
        assert [hit.score for hit in after.hits] == [hit.score for hit in reversed(before.hits)]
        assert after.hits[0].rerank_score == len(asked.reranker.sent[0][1])
        assert asked.reranker.sent[0][0] == "Short\nHandbook\nPart 0\npenstock gate"
        assert after.degraded == ()
        used = await asked.tenant.admin.fetchrow(
            "select tokens, calls, texts from accounts.usage where model = 'test:by-length'"
        )
        assert used is not None
        assert tuple(used.values()) == (11, 1, 2)


async def test_more_passages_than_asked_for_are_reranked_and_then_cut(database: Database) -> None:
    async with reranked(database, passages=4) as asked:
        for place in range(6):
            await asked.tenant.put(f"penstock {'x ' * place}")
        answer = await asked.ask("penstock", mode="text", limit=2)
        assert len(asked.reranker.sent[0]) == 4
        assert len(answer.hits) == 2
        assert [hit.text_rank for hit in answer.hits] == [4, 3]


async def test_a_reranker_does_not_put_a_second_passage_before_another_document(database: Database) -> None:
    async with reranked(database) as asked:
        long = await asked.tenant.put("penstock and gate and wheel", "penstock and gate and valve and more")
        short = await asked.tenant.put("penstock")
        answer = await asked.ask("penstock")
        assert [hit.document_id for hit in answer.hits] == [long, short, long]
        two = await asked.ask("penstock", per_document=2)
        assert [hit.document_id for hit in two.hits] == [long, long, short]


async def test_the_answer_stands_as_it_was_when_the_reranker_fails_and_it_rests(database: Database) -> None:
    async with reranked(database) as asked:
        for text in ("penstock gate", "a penstock, among much that has nothing to do with it"):
            await asked.tenant.put(text)
        before = await asked.ask("penstock gate", rerank=False)
        asked.reranker.failure = RerankerFailed("test:by-length", "it answered 503")
        for _ in range(2):
            answer = await asked.ask("penstock gate")
            assert answer.hits == before.hits
            assert answer.degraded == ("reranker",)
        assert len(asked.reranker.sent) == 1


async def test_a_slow_reranker_does_not_delay_a_search(database: Database) -> None:
    simulator = RerankSimulator(key="")
    async with serving(simulator.app) as address, indexed_tenant(database) as tenant:
        await tenant.put("penstock gate")
        made = make_reranker(Settings(_env_file=None, reranker=f"tei:{address}"))
        search = Search(
            tenant.tenants,
            Embedders(words=tenant.words),
            tenant.index,
            reranking=Reranking(made, passages=50, seconds=0.2),
        )
        good = await search.search(tenant.tenant_id, SearchQuery(query="penstock gate", explain=True))
        assert good.hits[0].rerank_score == 1.0
        assert good.steps is not None
        assert good.steps.rerank_ms > 0
        simulator.faults.begin_outage(Fault("slow", seconds=3))
        answer = await search.search(tenant.tenant_id, SearchQuery(query="penstock gate"))
        assert answer.degraded == ("reranker",)
        assert answer.took_ms < 2_000
        assert len(answer.hits) == 1
        await made.close()


async def test_nothing_is_sent_when_the_tenants_budget_is_used_up(database: Database) -> None:
    async with reranked(database) as asked:
        await asked.tenant.put("penstock gate")
        await asked.tenant.admin.execute("update accounts.tenant set monthly_token_budget = 0")
        answer = await asked.ask("penstock gate")
        assert set(answer.degraded) == {"vector", "reranker"}
        assert (await asked.ask("penstock gate", mode="text")).degraded == ("reranker",)
        assert asked.reranker.sent == []
        assert len(answer.hits) == 1


async def test_a_search_that_wants_a_reranker_is_told_when_there_is_none(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        with pytest.raises(InvalidArgument, match="no reranker is configured"):
            await tenant.find("penstock", rerank=True)
