"""Passages that are joined from neighbouring chunks: their text, their place, and no duplicates."""

from __future__ import annotations

from penstock.model import Chunk, DocumentId
from penstock.model.document import Heading
from tests.plugins.database import Database
from tests.sql.indexed_tenant import IndexedTenant, indexed_tenant

TEXT = (
    "The river is wide. The sluice was repaired in May. The sluice gate was painted. "
    "A sluice needs oil. Nothing else is here. The sluice is old."
)
CUTS = ((0, 18), (19, 50), (38, 79), (80, 99), (100, 121), (122, 140))
"""Chunk 2 begins inside chunk 1."""


async def put(tenant: IndexedTenant) -> DocumentId:
    document_id = await tenant.document(chunks=len(CUTS))
    chunks = [
        Chunk(
            ordinal,
            TEXT[start:end],
            start,
            end,
            len(TEXT[start:end].split()),
            (f"Part {ordinal}",),
            ordinal + 1,
            ordinal + 1,
            (Heading(start, (f"Part {ordinal}",)),),
        )
        for ordinal, (start, end) in enumerate(CUTS)
    ]
    await tenant.index.stage(
        tenant.tenant_id,
        tenant.project_id,
        document_id,
        1,
        chunks,
        [tenant.words.vector(chunk.text) for chunk in chunks],
        tenant.words.model,
    )
    await tenant.flip(document_id)
    return document_id


async def test_neighbours_that_match_are_joined_and_not_listed_again(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        document_id = await put(tenant)
        other = await tenant.put("A sluice elsewhere, with much else that is said about it here and there")
        hits = await tenant.find("sluice gate painted repaired oil", mode="text", joined=True)
        assert [hit.document_id for hit in hits] == [document_id, other, document_id]
        first, _, last = hits
        assert (first.ordinal, first.ordinal_from, first.ordinal_to) == (2, 1, 3)
        assert (first.char_start, first.char_end) == (19, 99)
        assert first.text == f"{TEXT[19:79]}\n\n{TEXT[80:99]}"
        assert (first.page_from, first.page_to) == (2, 4)
        assert first.heading_path == ("Part 1",)
        assert [heading.start for heading in first.headings] == [19, 80]
        assert (last.ordinal_from, last.ordinal_to, last.text) == (5, 5, TEXT[122:140])
        chunk_id = await tenant.admin.fetchval("select chunk_id from ingest.chunk where char_start = 38")
        assert first.chunk_id == chunk_id


async def test_passages_are_as_they_were_unless_they_are_to_be_joined(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await put(tenant)
        hits = await tenant.find("sluice gate", mode="text")
        assert hits[0].ordinal == 2
        assert sorted(hit.ordinal or 0 for hit in hits) == [1, 2, 3, 5]
        for hit in hits:
            assert (hit.ordinal_from, hit.ordinal_to) == (hit.ordinal, hit.ordinal)
            assert hit.char_start is not None
            assert hit.text == TEXT[hit.char_start : hit.char_end]


async def test_no_passage_of_the_ten_best_repeats_another(database: Database) -> None:
    async with indexed_tenant(database) as tenant:
        await put(tenant)
        for mode in ("hybrid", "vector", "text"):
            hits = await tenant.find("sluice gate oil", mode=mode, joined=True, per_document=5)
            shown = [
                place for hit in hits for place in range(hit.ordinal_from or 0, (hit.ordinal_to or 0) + 1)
            ]
            assert len(shown) == len(set(shown)), mode
            assert "gate" in hits[0].text, mode
            assert "oil" in hits[0].text, mode
            assert "Nothing else" not in hits[0].text, mode
