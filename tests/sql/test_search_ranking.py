"""What a search ranks first and why: words by BM25, vectors by nearness, both by reciprocal rank."""

from __future__ import annotations

import pytest

from penstock.model import uuid7
from tests.plugins.database import Database
from tests.sql.shelf import Shelf, shelf_of


async def test_a_rare_word_outweighs_a_frequent_one(database: Database) -> None:
    async with shelf_of(database) as shelf:
        for place in range(30):
            await shelf.put(f"the report about subject{place}")
        rare = await shelf.put("the penstock about nothing")
        for counted in (False, True):
            if counted:
                await shelf.index.tend()
            hits = await shelf.find("report penstock", mode="text", limit=5)
            assert hits[0].document_id == rare
            assert hits[0].text_rank == 1
            assert hits[0].vector_score is None
            assert len(hits) == 5


async def test_a_word_said_more_often_and_in_a_shorter_chunk_counts_more(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await shelf.put("filler " * 30 + "sluice", title="long")
        await shelf.put("sluice and gate", title="short")
        await shelf.put("sluice sluice gate", title="often")
        assert [hit.title for hit in await shelf.find("sluice", mode="text")] == ["often", "short", "long"]


async def test_frequent_words_are_not_read_when_rare_ones_fill_the_budget(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await shelf.put(*[f"common word{place % 5} chunk{place}" for place in range(50)])
        await shelf.index.tend()
        terms = await shelf.rows("select lexeme from ingest.query_terms('common word1 chunk7', 20)")
        assert [term["lexeme"] for term in terms] == ["chunk7", "word1"]
        terms = await shelf.rows("select lexeme from ingest.query_terms('common', 20)")
        assert [term["lexeme"] for term in terms] == ["common"]


async def test_a_hybrid_score_is_the_sum_of_reciprocal_ranks(database: Database) -> None:
    async with shelf_of(database) as shelf:
        for place in range(10):
            await shelf.put(f"turbine number{place}")
        hits = await shelf.find("turbine number3")
        assert hits[0].text == "turbine number3"
        assert (hits[0].vector_rank, hits[0].text_rank) == (1, 1)
        for hit in hits:
            ranks = [rank for rank in (hit.vector_rank, hit.text_rank) if rank is not None]
            assert hit.score == pytest.approx(sum(1 / (60 + rank) for rank in ranks))
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_languages_are_those_of_the_projects(database: Database) -> None:
    async with shelf_of(database) as shelf:
        project_id = uuid7()
        await shelf.admin.execute(
            "insert into accounts.project"
            " (project_id, tenant_id, slug, name, embedder, text_config, created_at)"
            " values ($1, $2, 'german', 'german', 'words', 'german', now())",
            project_id,
            shelf.tenant_id,
        )
        german = await shelf.put("Die Häuser am Fluss", project_id=project_id)
        english = await shelf.put("the running turbines")
        assert await shelf.found("Haus", mode="text") == [german]
        assert await shelf.found("turbine runs", mode="text") == [english]


async def test_the_language_of_a_document_goes_before_its_projects(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.document()
        await shelf.admin.execute(
            "update ingest.document set pipeline_config = $2 where document_id = $1",
            document_id,
            '{"language": "german"}',
        )
        await shelf.stage(document_id, ["Die Häuser am Fluss"])
        await shelf.flip(document_id)
        assert await shelf.found("Haus", mode="text") == [document_id]


async def test_a_query_of_stop_words_only_is_answered_by_vector(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.put("what is in the water")
        assert await shelf.found("what is the", mode="text") == []
        assert await shelf.found("what is the") == [document_id]


async def test_odd_characters_in_a_query_are_only_characters(database: Database) -> None:
    async with shelf_of(database) as shelf:
        document_id = await shelf.put("o'brien \\ a:b & c | d ! <-> (e) %s $1")
        for query in ("o'brien", "\\", "a:b & (c", "!'", "%s %L $1", "{}", "'; drop table ingest.chunk; --"):
            assert await shelf.found(query, mode="hybrid") == [document_id], query


async def insert_client(shelf: Shelf, name: str, summary: str, *, embedded: bool = True) -> None:
    await shelf.admin.execute(
        """
        insert into ingest.client_intelligence (
          client_id, tenant_id, project_id, client_name, industry, summary, key_facts, embedding,
          embedding_model, created_at, updated_at)
        values ($1, $2, $3, $4, 'mills', $5, '{"seats": 40, "stage": "negotiation"}', $6, $7, now(), now())
        """,
        uuid7(),
        shelf.tenant_id,
        shelf.project_id,
        name,
        summary,
        shelf.words.vector(f"{name} {summary}") if embedded else None,
        shelf.words.model if embedded else None,
    )


async def test_clients_are_found_with_chunks_by_words_and_by_vector(database: Database) -> None:
    async with shelf_of(database) as shelf, shelf_of(database, "other") as other:
        await shelf.put("the minutes of a meeting with Northwind about sluices")
        await insert_client(shelf, "Northwind", "builds sluices")
        await insert_client(other, "Northwind", "of another tenant")
        hits = await shelf.find("Northwind")
        assert {hit.kind for hit in hits} == {"chunk", "client"}
        client = next(hit for hit in hits if hit.kind == "client")
        assert client.title == "Northwind"
        assert client.document_id is None
        assert client.vector_rank is not None
        assert client.text_rank is not None
        assert len(hits) == 2
        assert [hit.kind for hit in await shelf.find("negotiation", mode="text")] == ["client"]
        assert [hit.kind for hit in await shelf.find("Northwind", include_clients=False)] == ["chunk"]
        assert [hit.kind for hit in await shelf.find("Northwind", types=["text/plain"])] == ["chunk"]
        assert len(await shelf.find("Northwind", projects=["default"])) == 2


async def test_a_client_is_found_by_what_it_is_now_and_not_after_it_is_gone(database: Database) -> None:
    async with shelf_of(database) as shelf:
        await insert_client(shelf, "Northwind", "builds sluices")
        await shelf.admin.execute(
            "update ingest.client_intelligence set summary = 'builds turbines', embedding = null"
        )
        assert await shelf.find("sluices", mode="text") == ()
        assert [hit.title for hit in await shelf.find("turbines", mode="text")] == ["Northwind"]
        assert await shelf.find("northwind", mode="vector") == ()
        await shelf.admin.execute("delete from ingest.client_intelligence")
        assert await shelf.find("turbines") == ()
