"""A document's way from upload to search, with real parsers, a real model and a real worker."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.cli.demo import files as demo_files
from penstock.errors import InvalidMove, NotFound
from penstock.model import Attachment, Parsed
from penstock.pipeline.classify import Skip
from penstock.pipeline.job import Job
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.workers import eventually

MILL = """# The mill

The penstock lets water into the mill at the rate the mill can take.

## Repairs

The miller replaced the oak gate after the flood of 1911.
"""


async def test_plain_text_becomes_chunks_with_vectors_and_is_found(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        document = await works.index(MILL)

        assert await works.moves(document.document_id) == ["pending", "processing", "embedding", "indexed"]
        assert document.title == "The mill"
        chunks = await works.engine.documents.chunks(works.tenant_id, document.document_id)
        assert document.chunk_count == len(chunks.items) > 0
        assert all(MILL[chunk.start : chunk.end] == chunk.text for chunk in chunks.items)
        assert await works.value("select count(*) from ingest.chunk_vector") == document.chunk_count
        assert {chunk.embedding_model for chunk in chunks.items} == {"wordllama-l2-supercat-256"}
        best = (await works.find("who mended the gate after the flood"))[0]
        assert best.document_id == document.document_id
        assert "<mark>" in best.snippet.html


async def test_a_pdf_keeps_its_table_as_a_table(database: Database, tmp_path: Path) -> None:
    rows = [["Quarter", "Revenue"], ["Q1 2026", "1,204,331"], ["Q2 2026", "803,112"]]
    content = demo_files.pdf("Figures", [["The year so far.", rows]])
    async with works_on(database, tmp_path) as works, works.working():
        document = await works.index(content, "figures.pdf")
        chunks = await works.engine.documents.chunks(works.tenant_id, document.document_id)
        text = "\n".join(chunk.text for chunk in chunks.items)
        assert any("Q1 2026" in line and "1,204,331" in line and "|" in line for line in text.splitlines())
        assert document.mime_type == "application/pdf"
        assert document.page_count
        assert chunks.items[0].page_from == 1
        events = await works.engine.documents.events(works.tenant_id, document.document_id, limit=100)
        readings = [
            detail["pdf_reading"] for each in events.items if "pdf_reading" in (detail := each.detail or {})
        ]
        assert readings == ["layout 1 (1 column, 1 table)"], "the timeline says how each page was read"


async def test_the_attachment_of_a_mail_is_a_document_of_its_own(database: Database, tmp_path: Path) -> None:
    inside = demo_files.pdf("Offer", [["Forty oak planks for the sluice."]])
    mail = demo_files.eml(
        "Offer",
        "Dear miller, see the attachment.",
        attachments=[Attachment("offer.pdf", inside, "application/pdf")],
    )
    async with works_on(database, tmp_path) as works, works.working():
        parent = await works.index(mail, "offer.eml")

        async def children() -> list[object]:
            page = await works.engine.documents.list(works.tenant_id)
            return [
                d for d in page.items if d.parent_document_id == parent.document_id and d.status == "indexed"
            ]

        await eventually(children)
        hits = await works.find("oak planks sluice", mode="text")
        assert hits[0].filename == "offer.pdf"
        # Both go when the mail goes: the attachment came in with it alone.
        assert await works.engine.documents.delete(works.tenant_id, parent.document_id) == 2
        assert not await works.find("oak planks sluice")


async def test_an_attachment_that_is_not_in_the_new_version_goes_when_that_is_indexed(
    database: Database, tmp_path: Path
) -> None:
    kept, old, new = (Attachment(f"{word}.txt", f"The {word} plank.".encode(), "text/plain")
                      for word in ("kept", "old", "new"))  # fmt: skip
    async with works_on(database, tmp_path) as works, works.working():

        async def found() -> list[str]:
            return sorted(str(hit.filename) for hit in await works.find("plank", mode="text"))

        first = demo_files.eml("Offer", "Dear miller.", attachments=[kept, old])
        mail = await works.index(first, "offer.eml", external_id="offer")

        async def as_first() -> bool:
            return await found() == ["kept.txt", "old.txt"]

        await eventually(as_first)
        changed = demo_files.eml("Offer", "Dear miller, once more.", attachments=[kept, new])
        again = await works.index(changed, "offer.eml", external_id="offer")
        assert again.document_id == mail.document_id

        async def as_changed() -> bool:
            return await found() == ["kept.txt", "new.txt"]

        await eventually(as_changed)


async def test_a_document_that_cannot_be_read_fails_once_with_its_reason(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        taken = await works.hand_in(b"%PDF-1.7\nthis is not a pdf at all", "broken.pdf")
        document = await works.settled(taken.document_id)
        assert document.status == "failed"
        assert document.reason_code in ("truncated", "malformed", "empty", "crash")
        assert document.error_message
        assert (await works.event_names(taken.document_id)).count("started") == 1
        ingestion = await works.engine.documents.ingestion(works.tenant_id, taken.ingestion_id)
        assert (ingestion.status, ingestion.error_code) == ("failed", document.reason_code)
        assert await works.value("select count(*) from queues.dead_letter") == 0
        # A person may send it through again; the old diagnosis stays in the timeline.
        await works.engine.documents.retry(works.tenant_id, taken.document_id)

        async def failed_twice() -> bool:
            return (await works.event_names(taken.document_id)).count("failed") == 2

        await eventually(failed_twice)


async def test_the_same_content_again_is_unchanged_and_embeds_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        first = await works.index(MILL)
        before = await works.engine.accounts.usage(works.tenant_id)
        again = await works.hand_in(MILL, "copy.md")
        assert (again.created, again.skipped, again.status) == (False, True, "unchanged")
        assert again.document_id == first.document_id
        assert await works.engine.accounts.usage(works.tenant_id) == before


async def test_changed_content_keeps_the_id_and_embeds_only_what_changed(
    database: Database, tmp_path: Path
) -> None:
    sections = [f"## Section {n}\n\n" + f"Fact {n} about wheel {n * 7}. " * 30 for n in range(40)]
    async with works_on(database, tmp_path) as works, works.working():
        document = await works.index("\n\n".join(sections), external_id="manual")
        before = (await works.engine.accounts.usage(works.tenant_id))[0]
        sections[20] = sections[20].replace("Fact 20", "A wholly new fact", 1)
        changed = await works.hand_in("\n\n".join(sections), external_id="manual")
        assert changed.document_id == document.document_id
        assert not changed.created

        async def indexed_again() -> bool:
            return (await works.event_names(document.document_id)).count("indexed") == 2

        await eventually(indexed_again)
        after = (await works.engine.accounts.usage(works.tenant_id))[0]
        assert 1 <= after.texts - before.texts <= 3
        assert after.reused - before.reused >= 37
        assert (await works.find("a wholly new fact", mode="text"))[0].document_id == document.document_id
        live = await works.value("select live_generation from ingest.document")
        per_ordinal = await works.value(
            "select max(n) from"
            " (select count(*) n from ingest.chunk where generation = $1 group by ordinal) c",
            live,
        )
        assert per_ordinal == 1


async def test_a_search_running_all_through_a_reindex_always_finds_exactly_one_version(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        document = await works.index(MILL)
        counts: set[int] = set()
        done = asyncio.Event()

        async def keep_searching() -> None:
            while not done.is_set():
                hits = await works.find("penstock water mill gate", include_clients=False)
                counts.add(len([hit for hit in hits if hit.document_id == document.document_id]))

        searching = asyncio.create_task(keep_searching())
        try:
            for number in range(5):
                await works.engine.documents.reindex(works.tenant_id, document.document_id)

                async def again(number: int = number) -> bool:
                    return (await works.event_names(document.document_id)).count("indexed") == number + 2

                await eventually(again)
        finally:
            done.set()
            await searching
        assert counts == {document.chunk_count}


async def test_a_failed_reindex_leaves_the_old_version_live(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        document = await works.index(MILL)
        broken = b"%PDF-1.7 no pages here"
        await works.engine.intake.replace(
            works.tenant_id, document.document_id, _pieces(broken), filename="x.pdf"
        )

        async def failed() -> bool:
            return (
                await works.engine.documents.show(works.tenant_id, document.document_id)
            ).status == "failed"

        await eventually(failed)
        hits = await works.find("penstock water mill")
        assert hits
        assert hits[0].document_id == document.document_id


async def test_a_deleted_document_is_out_of_every_search_and_then_out_of_the_store(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        document = await works.index(MILL)
        await works.engine.documents.delete(works.tenant_id, document.document_id)
        for mode in ("hybrid", "vector", "text"):
            assert not await works.find("penstock water mill", mode=mode)
        with pytest.raises(NotFound):
            await works.engine.documents.show(works.tenant_id, document.document_id)

        async def removed() -> bool:
            return "removed" in await works.event_names(document.document_id)

        await eventually(removed)
        assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
        for table in ("chunk", "chunk_vector", "posting", "embedding_cache"):
            assert await works.value(f"select count(*) from ingest.{table}") == 0, table
        again = await works.hand_in(MILL)
        assert again.created
        assert again.document_id != document.document_id


class _NoNewsletters:
    def reads(self, job: Job) -> bool:
        return True

    async def classify(self, job: Job, parsed: Parsed) -> Skip | None:
        return Skip("marketing_material") if "unsubscribe" in parsed.text else None


async def test_a_document_that_a_rule_rejects_is_skipped_with_the_reason(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path, classifier=_NoNewsletters()) as works, works.working():
        taken = await works.hand_in("Buy now! To unsubscribe click here.", "spam.txt")
        document = await works.settled(taken.document_id)
        assert document.status == "skipped"
        ingestion = await works.engine.documents.ingestion(works.tenant_id, taken.ingestion_id)
        assert (ingestion.status, ingestion.skip_reason) == ("skipped", "marketing_material")


async def test_a_document_in_progress_is_not_retried_by_hand(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works:
        taken = await works.hand_in(MILL)
        with pytest.raises(InvalidMove, match="penstock explain"):
            await works.engine.documents.retry(works.tenant_id, taken.document_id)
        why = await works.engine.documents.explain(works.tenant_id, taken.document_id)
        assert any(reason.reason == "no_worker" for reason in why.waits_for)


async def _pieces(content: bytes) -> AsyncIterator[bytes]:
    yield content
