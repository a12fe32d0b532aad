"""What a search ranks first and why: words by BM25, vectors by nearness, both by reciprocal rank."""

from __future__ import annotations

import pytest

from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant


async def test_a_rare_word_outweighs_a_frequent_one(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for place in range(30):
            await tenant.put(f"the report about subject{place}")
        rare = await tenant.put("the penstock about nothing")
        for counted in (False, True):
            if counted:
                await tenant.index.maintain()
            hits = await tenant.find("report penstock", mode="text", limit=5)
            assert hits[0].document_id == rare
            assert hits[0].text_rank == 1
            assert hits[0].vector_score is None
            assert len(hits) == 5


async def test_a_word_that_is_more_frequent_in_a_shorter_chunk_counts_more(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("filler " * 30 + "sluice", title="long")
        await tenant.put("sluice and gate", title="short")
        await tenant.put("sluice sluice gate", title="often")
        assert [hit.title for hit in await tenant.find("sluice", mode="text")] == ["often", "short", "long"]


async def test_frequent_words_are_not_read_when_rare_ones_fill_the_budget(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put(*[f"common word{place % 5} chunk{place}" for place in range(50)])
        await tenant.index.maintain()
        terms = await tenant.rows("select lexeme from search.query_terms('common word1 chunk7', 20)")
        assert [term["lexeme"] for term in terms] == ["chunk7", "word1"]
        terms = await tenant.rows("select lexeme from search.query_terms('common', 20)")
        assert [term["lexeme"] for term in terms] == ["common"]


async def test_a_hybrid_score_is_the_sum_of_reciprocal_ranks(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for place in range(10):
            await tenant.put(f"turbine number{place}")
        hits = await tenant.find("turbine number3")
        assert hits[0].text == "turbine number3"
        assert (hits[0].vector_rank, hits[0].text_rank) == (1, 1)
        for hit in hits:
            ranks = [rank for rank in (hit.vector_rank, hit.text_rank) if rank is not None]
            assert hit.score == pytest.approx(sum(1 / (60 + rank) for rank in ranks))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_languages_are_those_of_the_projects(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        project_id = uuid7()
        await tenant.admin.execute(
            "insert into accounts.project"
            " (project_id, tenant_id, slug, name, embedder, text_config, created_at)"
            " values ($1, $2, 'german', 'german', 'words', 'german', now())",
            project_id,
            tenant.tenant_id,
        )
        german = await tenant.put("Die Häuser am Fluss", project_id=project_id)
        english = await tenant.put("the running turbines")
        assert await tenant.found("Haus", mode="text") == [german]
        assert await tenant.found("turbine runs", mode="text") == [english]


async def test_the_language_of_a_document_takes_precedence_over_its_projects(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.document()
        await tenant.admin.execute(
            "update ingest.document set pipeline_config = $2 where document_id = $1",
            document_id,
            '{"language": "german"}',
        )
        await tenant.stage(document_id, ["Die Häuser am Fluss"])
        await tenant.flip(document_id)
        assert await tenant.found("Haus", mode="text") == [document_id]


async def test_a_query_of_stop_words_only_is_answered_by_vector(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("what is in the water")
        assert await tenant.found("what is the", mode="text") == []
        assert await tenant.found("what is the") == [document_id]


async def test_odd_characters_in_a_query_are_only_characters(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("o'brien \\ a:b & c | d ! <-> (e) %s $1")
        for query in ("o'brien", "\\", "a:b & (c", "!'", "%s %L $1", "{}", "'; drop table ingest.chunk; --"):
            assert await tenant.found(query, mode="hybrid") == [document_id], query


async def insert_client(tenant: IndexedTenant, name: str, summary: str, *, embedded: bool = True) -> None:
    await tenant.admin.execute(
        """
        insert into ingest.client_intelligence (
          client_id, tenant_id, project_id, client_name, industry, summary, key_facts, embedding,
          embedding_model, created_at, updated_at)
        values ($1, $2, $3, $4, 'mills', $5, '{"seats": 40, "stage": "negotiation"}', $6, $7, now(), now())
        """,
        uuid7(),
        tenant.tenant_id,
        tenant.project_id,
        name,
        summary,
        tenant.words.vector(f"{name} {summary}") if embedded else None,
        tenant.words.model if embedded else None,
    )


async def test_clients_are_found_with_chunks_by_words_and_by_vector(database: Database) -> None:
    async with indexed_tenant(database) as tenant, indexed_tenant(database, "other") as other:
        await tenant.put("the minutes of a meeting with Northwind about sluices")
        await insert_client(tenant, "Northwind", "builds sluices")
        await insert_client(other, "Northwind", "of another tenant")
        hits = await tenant.find("Northwind")
        assert {hit.kind for hit in hits} == {"chunk", "client"}
        client = next(hit for hit in hits if hit.kind == "client")
        assert client.title == "Northwind"
        assert client.document_id is None
        assert client.vector_rank is not None
        assert client.text_rank is not None
        assert len(hits) == 2
        assert [hit.kind for hit in await tenant.find("negotiation", mode="text")] == ["client"]
        assert [hit.kind for hit in await tenant.find("Northwind", include_clients=False)] == ["chunk"]
        assert [hit.kind for hit in await tenant.find("Northwind", types=["text/plain"])] == ["chunk"]
        assert len(await tenant.find("Northwind", projects=["default"])) == 2


async def test_a_client_is_found_by_what_it_is_now_and_not_after_it_is_gone(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await insert_client(tenant, "Northwind", "builds sluices")
        await tenant.admin.execute(
            "update ingest.client_intelligence set summary = 'builds turbines', embedding = null"
        )
        assert await tenant.find("sluices", mode="text") == ()
        assert [hit.title for hit in await tenant.find("turbines", mode="text")] == ["Northwind"]
        assert await tenant.find("northwind", mode="vector") == ()
        await tenant.admin.execute("delete from ingest.client_intelligence")
        assert await tenant.find("turbines") == ()
