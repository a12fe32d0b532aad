"""What of a document its words come from: title, headings and text, read in the document's language."""

from __future__ import annotations

import pytest

from penstock.model import Chunk, DocumentId
from penstock.model.document import Heading
from tests.plugins.database import Database
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant
from tests.sql.test_search_words import project_of


async def put(
    tenant: IndexedTenant,
    text: str,
    *,
    headings: tuple[str, ...] = (),
    inside: tuple[tuple[str, ...], ...] = (),
    title: str | None = None,
    language: str | None = None,
    project: str | None = None,
) -> DocumentId:
    project_id = None if project is None else await project_of(tenant, project)
    document_id = await tenant.document(title=title, project_id=project_id)
    await tenant.admin.execute(
        "update ingest.document set language = $2 where document_id = $1", document_id, language
    )
    chunk = Chunk(
        0,
        text,
        0,
        len(text),
        len(text.split()),
        headings,
        headings=tuple(Heading(0, path) for path in inside),
    )
    vector = tenant.words.vector(text)
    await tenant.index.stage(
        tenant.tenant_id,
        tenant.project_id,
        document_id,
        1,
        [chunk],
        [vector],
        tenant.words.model,
        title,
        language,
    )
    await tenant.flip(document_id)
    return document_id


async def test_a_document_is_found_by_a_word_that_only_its_title_has(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        right = await put(tenant, "It opens to the left.", title="Manual of the sluice")
        await put(tenant, "It opens to the right.", title="Manual of the gate")
        assert await tenant.found("sluice", mode="text") == [right]


async def test_a_word_of_a_heading_counts_more_than_one_of_the_text(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        text = await put(tenant, "painted and sluice and repaired", headings=("Works",))
        heading = await put(tenant, "painted and works and repaired", headings=("Sluice",))
        twice = await put(tenant, "sluice and sluice and sluice", headings=("Works",))
        assert await tenant.found("sluice", mode="text") == [twice, heading, text]


async def test_a_word_of_a_heading_inside_a_passage_counts_as_two_of_the_text(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        once = await put(tenant, "Works painted Sluice repaired", headings=("Works",))
        inside = await put(
            tenant,
            "Works painted Sluice repaired",
            headings=("Works",),
            inside=(("Works",), ("Works", "Sluice")),
        )
        twice = await put(tenant, "Works Sluice Sluice repaired", headings=("Works",))
        assert (await tenant.found("sluice", mode="text"))[-1] == once
        scores = {hit.document_id: hit.text_score for hit in await tenant.find("sluice", mode="text")}
        assert scores[inside] == pytest.approx(scores[twice])


async def test_a_heading_above_a_passage_that_is_inside_it_too_counts_no_more(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        text = "Sluice. It opens."
        await put(tenant, text, title="Works", headings=("Sluice",))
        await put(tenant, text, title="Works", headings=("Sluice",), inside=(("Works",), ("Works", "Sluice")))
        for query in ("sluice", "works"):
            first, second = await tenant.find(query, mode="text")
            assert first.text_score == pytest.approx(second.text_score), query


async def test_a_title_that_is_also_a_heading_counts_once(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await put(tenant, "It opens.", title="Sluice", headings=("Sluice",))
        await put(tenant, "It opens.", headings=("Sluice",))
        first, second = await tenant.find("sluice", mode="text")
        assert first.text_score == pytest.approx(second.text_score)


async def test_words_are_read_in_the_language_the_parser_found(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        german = await put(tenant, "Die Häuser am Fluss", language="de")
        english = await put(tenant, "the running turbines", language="en")
        assert await tenant.found("Haus", mode="text") == [german]
        assert await tenant.found("turbine runs", mode="text") == [english]
        hit = (await tenant.find("Haus am Fluss", mode="text"))[0]
        assert hit.coverage == pytest.approx(1)
        assert [hit.snippet.text[start:end] for start, end in hit.snippet.marks] == ["Häuser", "Fluss"]


async def test_a_project_that_reads_words_as_they_are_written_does_so_in_every_language(
    database: Database,
) -> None:
    async with indexed_tenant(database) as tenant:
        exact = await put(tenant, "Die Häuser am Fluss", language="de", project="simple")
        assert await tenant.found("Haus", mode="text") == []
        assert await tenant.found("häuser", mode="text") == [exact]


@pytest.mark.parametrize(
    ("own", "language", "project", "expected"),
    [
        (None, None, "english", "english"),
        (None, "de", "english", "german"),
        (None, "pt-BR", "english", "portuguese"),
        (None, "xx", "english", "english"),
        ("french", "de", "english", "french"),
        ("no such", "de", "english", "german"),
        (None, "de", "simple", "simple"),
    ],
)
async def test_a_documents_own_language_goes_before_what_was_found_and_the_projects(
    database: Database, own: str | None, language: str | None, project: str, expected: str
) -> None:
    async with database.connect("admin") as admin:
        found = await admin.fetchval(
            "select ingest.text_config_of(jsonb_build_object('language', $1::text), $2, $3)",
            own,
            language,
            project,
        )
        assert found == expected


async def test_a_document_indexed_before_its_language_was_asked_for_has_a_coverage(
    database: Database,
) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await tenant.put("Fluss und Haus")
        await tenant.admin.execute(
            "update ingest.document set language = 'de' where document_id = $1", document_id
        )
        assert (await tenant.find("Fluss", mode="text"))[0].coverage == pytest.approx(1)
