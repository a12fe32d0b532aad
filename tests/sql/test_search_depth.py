"""A long document that fills the lists of a search does not hide the other documents that match."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.index import PgvectorIndex
from penstock.index.protocol import Gathered, Hit, IndexQuery
from penstock.index.vectors import as_text
from penstock.model import DocumentId, TenantId
from penstock.search import Search, SearchQuery
from tests.plugins.database import Database
from tests.sql.indexed_tenant import Embedders, IndexedTenant, indexed_tenant

LONG = 300
OTHERS = 10
GATHERED = """
select count(*)
from search.gathered('penstock gate', 'hybrid', $1, '{}', array[$2], array[$3], true, null, null, 1) g
where g.is_near = $4"""


async def put_long_and_others(tenant: IndexedTenant) -> tuple[DocumentId, list[DocumentId]]:
    """Every passage of the long one matches better than the only passage of each other document."""
    long = await tenant.put(*[f"penstock gate number{place}" for place in range(LONG)])
    others = [
        await tenant.put(f"one penstock beside a long account of fields and roads and weather{place}")
        for place in range(OTHERS)
    ]
    return long, others


@pytest.mark.parametrize("mode", ["hybrid", "text", "vector"])
async def test_a_document_of_three_hundred_matching_passages_hides_no_other(
    database: Database, mode: str
) -> None:
    async with indexed_tenant(database) as tenant:
        long, others = await put_long_and_others(tenant)
        filters: list[dict[str, Any]] = [{}, {"types": ["text/plain"]}]
        for within in filters:
            found = await tenant.found("penstock gate", mode=mode, limit=OTHERS + 1, **within)
            assert found[0] == long, within
            assert set(found[1:]) == set(others), within


async def test_passages_of_a_long_document_fill_only_what_other_documents_leave(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        long, others = await put_long_and_others(tenant)
        found = await tenant.found("penstock gate", mode="text", limit=15)
        assert set(found[: OTHERS + 1]) == {long, *others}
        assert found[OTHERS + 1 :] == [long] * 4
        found = await tenant.found("penstock gate", mode="text", limit=12, per_document=2)
        assert found[:2] == [long, long]
        assert set(found[2:]) == set(others)


async def gathered(tenant: IndexedTenant, limit: int) -> tuple[int, int]:
    """How many passages are found by words and by vector."""
    vector = as_text(tenant.words.vector("penstock gate"))
    async with tenant.admin.transaction():
        await tenant.admin.execute("select set_config('penstock.tenant_id', $1, true)", str(tenant.tenant_id))
        by_words, near = [
            await tenant.admin.fetchval(GATHERED, limit, tenant.words.model, vector, is_near)
            for is_near in (False, True)
        ]
    return by_words, near


async def test_a_search_looks_deeper_only_for_documents_that_are_hidden(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        long, others = await put_long_and_others(tenant)
        assert await gathered(tenant, OTHERS + 1) == (LONG + OTHERS, LONG + OTHERS)
        assert await gathered(tenant, 1) == (100, 100)
        for other in others:
            await tenant.delete(other)
        assert await gathered(tenant, OTHERS + 1) == (100, 100)
        assert await tenant.found("penstock gate", limit=3) == [long] * 3


class OutsideIndex(PgvectorIndex):
    """Finds these passages, best first, as deep as it is asked to look."""

    hits: list[Hit]
    depths: list[int]

    async def gather(self, tenant_id: TenantId, query: IndexQuery) -> Gathered:
        self.depths.append(query.depth)
        return Gathered(self.hits[: query.depth], self.hits[: query.depth])


async def test_an_index_outside_the_database_is_asked_for_more_when_one_document_fills_its_answer(
    database: Database,
) -> None:
    async with indexed_tenant(database) as tenant:
        long, others = await put_long_and_others(tenant)
        index = OutsideIndex(tenant.tenants)
        search = Search(tenant.tenants, Embedders(words=tenant.words), index)
        places = [(long, ordinal) for ordinal in range(LONG)] + [(other, 0) for other in others]
        index.hits = [
            Hit(document_id, 1, ordinal, tenant.words.model, 1 - place / 1000)
            for place, (document_id, ordinal) in enumerate(places)
        ]
        for limit, depths in ((OTHERS + 1, [100, 1000]), (1, [100])):
            index.depths = []
            answer = await search.search(tenant.tenant_id, SearchQuery(query="penstock gate", limit=limit))
            assert [hit.document_id for hit in answer.hits] == [long, *others][:limit]
            assert index.depths == depths
