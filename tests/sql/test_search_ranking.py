"""What a search ranks first and why: words by BM25, vectors by nearness, both by their scores."""

from __future__ import annotations

from statistics import fmean, pstdev

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


async def test_nearness_counts_half_when_the_model_read_a_corrected_query(database: Database) -> None:
    """The correction may be wrong; words look for every indexed word that is one letter away."""
    async with indexed_tenant(database) as tenant:
        for name in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]:
            await tenant.put(f"turbine {name}")
        for query, counts in (("turbine three", 1.0), ("tubrine three", 0.5)):
            hits = await tenant.find(query)
            near = [hit.vector_score for hit in hits if hit.vector_score is not None]
            words = [hit.text_score for hit in hits if hit.text_score is not None]
            weight = counts * await tenant.admin.fetchval("select search.vector_weight($1)", hits[0].model)
            for hit in hits:
                assert hit.vector_score is not None
                nearness = (hit.vector_score - min(near)) / (max(near) - min(near))
                matching = (hit.text_score or 0.0) / max(words)
                assert hit.score == pytest.approx(weight * nearness + (1 - weight) * matching)


async def test_a_hybrid_score_weighs_nearness_and_words_of_the_document(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for name in ["one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"]:
            await tenant.put(f"turbine {name}")
        hits = await tenant.find("turbine three")
        assert hits[0].text == "turbine three"
        assert (hits[0].vector_rank, hits[0].text_rank) == (1, 1)
        near = [hit.vector_score for hit in hits if hit.vector_score is not None]
        words = [hit.text_score for hit in hits if hit.text_score is not None]
        weight = await tenant.admin.fetchval("select search.vector_weight($1)", hits[0].model)
        for hit in hits:
            assert hit.vector_score is not None
            nearness = (hit.vector_score - min(near)) / (max(near) - min(near))
            matching = (hit.text_score or 0.0) / max(words)
            assert hit.score == pytest.approx(weight * nearness + (1 - weight) * matching)
        assert [hit.score for hit in hits] == sorted((hit.score for hit in hits), reverse=True)


async def test_nearness_counts_more_where_the_nearest_passage_stands_out(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for number in range(60):
            await tenant.put(f"gate number{number} of the mill")
        await tenant.put("water")
        weights = []
        for query in ("gate of the mill", "water"):
            near = [hit.vector_score or 0.0 for hit in await tenant.find(query, mode="vector", limit=100)]
            words = [hit.text_score or 0.0 for hit in await tenant.find(query, mode="text", limit=100)]
            assert len(near) == 61
            standout = (max(near) - fmean(near)) / pstdev(near)
            weight = await tenant.admin.fetchval("select search.vector_weight('words-64', $1)", standout)
            for hit in await tenant.find(query, limit=100):
                nearness = ((hit.vector_score or 0.0) - min(near)) / (max(near) - min(near))
                matching = (hit.text_score or 0.0) / max(words)
                assert hit.score == pytest.approx(weight * nearness + (1 - weight) * matching)
            weights.append(weight)
        assert weights[0] < 0.3
        assert weights[1] == pytest.approx(0.6)


async def test_every_document_shows_its_best_passage_before_any_shows_a_second(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        long = await tenant.put("penstock gate", "penstock wheel", "penstock valve")
        short = await tenant.put("a penstock beside a long account of fields and roads and weather")
        for mode in ("hybrid", "text", "vector"):
            found = await tenant.found("penstock gate", mode=mode, limit=10)
            assert found[:2] == [long, short], mode
            assert found[2:] == [long, long], mode
        hits = await tenant.find("penstock gate", mode="text", per_document=3)
        assert [hit.document_id for hit in hits] == [long, long, long, short]


async def test_a_document_with_the_identifier_of_the_query_comes_first(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for place in range(20):
            await tenant.put(f"invoice INV-2024-{place:04} of the mill, due in thirty days")
        right = await tenant.put("A letter. It says nothing else than what was said, but of INV-2024-0107.")
        for query in (
            "INV-2024-0107",
            "invoice inv-2024-0107?",
            "when is the invoice INV-2024-0107 of the mill due",
        ):
            for mode in ("hybrid", "text"):
                assert (await tenant.found(query, mode=mode))[0] == right, (query, mode)


@pytest.mark.parametrize("dash", ["-", "\u2010", "\u2011", "\u2012", "\u2013"])
async def test_an_identifier_is_found_whatever_its_dashes_are(database: Database, dash: str) -> None:
    async with indexed_tenant(database) as tenant:
        for place in range(20):
            await tenant.put(f"invoice INV-{place + 2000} of the mill, due in thirty days")
        right = await tenant.put(f"A letter. It says nothing else than what was said, but of INV{dash}1001.")
        for asked in ("INV-1001", "INV\u20111001", "inv\u20131001"):
            for mode in ("hybrid", "text"):
                hits = await tenant.find(f"when is the invoice {asked} of the mill due", mode=mode)
                assert hits[0].document_id == right, (asked, mode)


@pytest.mark.parametrize("column", ["title", "filename", "path"])
async def test_a_document_that_is_named_like_the_identifier_comes_first(
    database: Database, column: str
) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put("invoice of the mill, due in thirty days")
        right = await tenant.put("invoice of the mill, due in thirty days")
        await tenant.put("a letter of the mill", "invoice of the mill, due in sixty days")
        name = "2026/INV\u20111001/first.pdf" if column == "path" else "INV\u20111001.pdf"
        await tenant.admin.execute(
            "update ingest.document set title = coalesce($2, title), filename = coalesce($3, filename),"
            " path = coalesce($4, path) where document_id = $1",
            right,
            *(name if column == each else None for each in ("title", "filename", "path")),
        )
        for mode in ("hybrid", "text"):
            query = "when is the invoice INV-{} of the mill due"
            assert (await tenant.found(query.format(1001), mode=mode, limit=30))[0] == right, mode
            assert (await tenant.found(query.format(100), mode=mode, limit=30))[0] != right, mode


async def test_a_longer_identifier_does_not_stand_for_the_one_that_was_asked_for(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        for name in ("INV-1001", "INV-1002", "INV-10012"):
            await tenant.put(f"invoice {name} of the mill, due in thirty days")
        right = await tenant.put("A letter. It says nothing else than what was said, but of (INV-100).")
        for mode in ("hybrid", "text"):
            hits = await tenant.find("when is the invoice INV-100 of the mill due", mode=mode)
            assert hits[0].document_id == right, mode


@pytest.mark.parametrize(
    ("text", "is_exact"),
    [
        ("order a.b/7(2)", True),
        ("ordera.b/7(2)", False),
        ("order axb/7(2)", False),
        ("order_A.B/7(2)_signed", True),
        ("order a.b/7(23)", False),
        ("order xa.b/7(2)", False),
    ],
)
async def test_signs_in_an_identifier_are_only_signs(database: Database, text: str, is_exact: bool) -> None:
    async with indexed_tenant(database) as tenant:
        await tenant.put(text)
        (hit,) = await tenant.find("a.b/7(2)")
        weight = await tenant.admin.fetchval("select search.vector_weight($1)", hit.model)
        expected = weight + (1 - weight) * (hit.text_rank is not None)
        assert hit.score == pytest.approx(expected + 0.5 * is_exact)


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        (
            "Part AX-7731/b, in 2024 and 1,204,331. Or #100 by DE89370400440532?",
            ["#100", "1,204,331", "ax-7731/b", "de89370400440532"],
        ),
        ("revenue of 2024 in Q4", []),
        ("Is invoice 48213 paid?", ["48213"]),
        ("rooms 4821 and 482", []),
        ("the 1990s, 2023/24, 2023-2025, 2024's and the 12th or 101st time", []),
        ("2024-0107 of 2024-11-30", ["2024-0107", "2024-11-30"]),
    ],
)
async def test_identifiers_have_a_digit_and_are_no_year(
    database: Database, query: str, expected: list[str]
) -> None:
    async with database.connect("admin") as admin:
        assert sorted(await admin.fetchval("select search.identifiers($1)", query)) == expected


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


@pytest.mark.parametrize(
    ("models", "language", "is_read"),
    [
        (["minilm-l6-v2-int8"], "de", False),
        (["wordllama-l2-supercat-256"], "es-MX", False),
        (["minilm-l6-v2-int8"], "german", False),
        (["minilm-l6-v2-int8"], "en-GB", True),
        (["minilm-l6-v2-int8"], "simple", True),
        (["minilm-l6-v2-int8"], None, True),
        (["minilm-l6-v2-int8", "cohere:embed-v4.0"], "de", True),
        ([], "de", False),
    ],
)
async def test_local_models_read_english(
    database: Database, models: list[str], language: str | None, is_read: bool
) -> None:
    async with database.connect("admin") as admin:
        assert await admin.fetchval("select search.reads_language($1, $2)", models, language) is is_read


@pytest.mark.parametrize(("model", "decides"), [("minilm-64", "words"), ("words-64", "nearness")])
async def test_in_a_language_that_the_model_does_not_read_words_decide(
    database: Database, model: str, decides: str
) -> None:
    """The near one has the query's frequent words, as its vector tells; the other one has its rare word."""
    async with indexed_tenant(database, model=model) as tenant:
        near = await tenant.put("wehr rechen wehr rechen klappe klappe")
        other = await tenant.put("die druckleitung " + "und vieles andere mehr von dem hier " * 4)
        for place in range(60):
            await tenant.put(f"wehr rechen klappe bericht{place} " * 3)
        await tenant.admin.execute("update ingest.document set language = 'de'")
        await tenant.index.maintain()
        found = await tenant.found("wehr rechen klappe druckleitung", limit=62)
        by_words = await tenant.found("wehr rechen klappe druckleitung", limit=62, mode="text")
        assert (found[:10] == by_words[:10]) is (decides == "words")
        assert {near, other} <= set(found)


async def test_which_passages_are_joined_does_not_depend_on_the_language(database: Database) -> None:
    async with indexed_tenant(database, model="minilm-64") as tenant:
        await tenant.put("wehr rechen klappe", "ein ganz anderer satz", "wehr rechen", "noch etwas anderes")

        async def joined(mode: str) -> list[tuple[int | None, int | None]]:
            hits = await tenant.find("wehr rechen klappe", mode=mode, joined=True, per_document=4)
            return sorted((hit.ordinal_from, hit.ordinal_to) for hit in hits)

        in_english = {mode: await joined(mode) for mode in ("hybrid", "vector", "text")}
        await tenant.admin.execute("update ingest.document set language = 'de'")
        assert {mode: await joined(mode) for mode in in_english} == in_english
