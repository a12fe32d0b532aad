"""A sync writes what changed, once, with its cursor; and goes on where it was interrupted."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.errors import NotFound
from penstock.model import DocumentId
from penstock.sources.errors import (
    AccessForbidden,
    BindingMismatch,
    CursorExpired,
    ProviderUnavailable,
    Throttled,
)
from tests.plugins.database import Database
from tests.plugins.documents import works_on
from tests.plugins.scripted_source import (
    ScriptedProvider,
    add_source,
    embedded,
    hurry,
    notes,
    settled,
    synced,
    syncing,
)
from tests.plugins.workers import eventually


async def test_the_first_sync_reads_everything_and_its_records_are_found(
    database: Database, tmp_path: Path
) -> None:
    async with syncing(database, tmp_path, notes(5)) as works:
        source_id = await add_source(works)
        job = await settled(works, source_id)
        assert (job["status"], job["kind"]) == ("completed", "full_sync")
        assert (job["items_seen"], job["items_written"], job["items_expected"]) == (5, 5, 5)
        (hit, *_) = await works.find("turbine 3", mode="text", limit=1)
        assert "turbine 3" in hit.text
        assert hit.source_id == source_id
        assert hit.document_id is not None
        document_id = DocumentId(hit.document_id)
        content = await works.engine.documents.content(works.tenant_id, document_id)
        assert b"".join([piece async for piece in content.stream]) == b"Note 3 speaks of turbine 3."
        assert await works.event_names(document_id) == ["taken_in"]


async def test_a_second_sync_reads_only_changes_and_embeds_only_new_texts(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(4)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        before = await embedded(works)
        assert before == 4
        document_id = await works.value(
            "select document_id from ingest.document where external_id = 'notes/001'"
        )
        provider.put("001", "Note 1 now speaks of penstocks.")
        provider.put("002", "Note 2 speaks of turbine 2.", title="Note 2", colour="blue")
        provider.delete("003")
        job = await synced(works, source_id)
        assert job["kind"] == "delta_sync"
        assert (job["items_written"], job["items_removed"]) == (2, 1)
        assert await embedded(works) == before + 1, "the text of note 2 is as it was"
        (hit, *_) = await works.find("penstocks", mode="text", limit=1)
        assert hit.document_id == document_id, "a document keeps its id when its text changes"
        assert all("turbine 3" not in hit.text for hit in await works.find("turbine 3", mode="text"))
        assert await works.value("select count(*) from ingest.source_document") == 3


async def test_a_full_sync_of_unchanged_items_writes_and_embeds_nothing(
    database: Database, tmp_path: Path
) -> None:
    async with syncing(database, tmp_path, notes(5)) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        before = await embedded(works)
        updated = await works.value("select min(updated_at) from ingest.source_document")
        job = await synced(works, source_id, full=True)
        assert (job["kind"], job["items_unchanged"], job["items_written"]) == ("full_sync", 5, 0)
        assert await embedded(works) == before
        assert await works.value("select count(*) from ingest.document") == 5
        assert await works.value("select min(updated_at) from ingest.source_document") > updated


async def test_a_full_sync_removes_what_a_lost_deletion_left(database: Database, tmp_path: Path) -> None:
    provider = notes(4)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        provider.delete("002", quietly=True)
        assert (await synced(works, source_id))["items_removed"] == 0
        assert (await synced(works, source_id, full=True))["items_removed"] == 1
        assert await works.value("select count(*) from ingest.document where deleted_at is null") == 3


async def test_what_an_unchanged_full_sync_saw_before_it_failed_is_not_taken_for_deleted(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(6)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        provider.errors[provider.pages + 3] = [Throttled("Scripted", 0)]
        provider.delete("005", quietly=True)
        job = await synced(works, source_id, full=True)
        assert (job["items_unchanged"], job["items_removed"]) == (5, 1)
        assert provider.reads[-1][3], "it went on where it stopped"
        assert await works.value("select count(*) from ingest.source_document") == 5


async def test_what_an_abandoned_pass_saw_does_not_count_for_the_next(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(6)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        first = provider.pages + 1

        async def lose(page: int) -> None:
            if page == first + 1:
                provider.delete("000", quietly=True)

        provider.on_page = lose
        provider.errors[first + 2] = [CursorExpired("Scripted", "it is too old")]
        job = await synced(works, source_id, full=True)
        assert job["items_removed"] == 1, "the pass that saw it was not the one that ended"
        assert await works.value("select count(*) from ingest.source_document") == 5


async def test_an_item_that_fails_in_a_full_sync_is_not_taken_for_deleted(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(3)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        del provider.records["notes"]["001"]["text"]
        job = await synced(works, source_id, full=True)
        assert (job["status"], job["items_failed"], job["items_removed"]) == ("completed", 1, 0)
        (hit, *_) = await works.find("turbine 1", mode="text", limit=1)
        assert "turbine 1" in hit.text, "what was read of it before stays"


async def test_what_a_cap_left_out_is_counted_and_not_taken_for_deleted(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(4)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        provider.left_out = 7
        provider.delete("002", quietly=True)
        job = await synced(works, source_id, full=True)
        assert (job["items_left_out"], job["items_removed"]) == (7, 0)


async def test_an_interrupted_sync_goes_on_after_its_last_checkpoint(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(6)
    provider.errors = {3: [ProviderUnavailable("Script", "503")]}
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        job = await settled(works, source_id)
        assert (job["status"], job["items_written"], job["items_failed"]) == ("completed", 6, 1)
        assert [read[3] for read in provider.reads] == [False, True]
        assert provider.reads[1][1]["after"] == "003"


async def test_after_five_attempts_without_progress_a_sync_fails_and_says_so(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(2)
    provider.errors = {page: [ProviderUnavailable("Script", "503")] for page in range(1, 20)}
    async with works_on(database, tmp_path, providers={"folder": provider}) as works:
        source_id = await add_source(works)
        async with works.working():
            await hurry(works, source_id)
            job = await settled(works, source_id)
        assert (job["status"], job["error_message"]) == ("failed", "max_retries_exceeded")
        assert provider.pages == 5
        assert await works.value("select status::text from ingest.source") == "active"
        row = (await works.engine.sources.list(works.tenant_id))[0]
        assert row.status == "active"


@pytest.mark.parametrize(
    ("error", "status", "code"),
    [
        (AccessForbidden("Script", "notes", "MISSING_SCOPES"), "error", "access_forbidden"),
        (BindingMismatch("Script", "script@1", "there is no tool x"), "provider_error", "binding_mismatch"),
    ],
)
async def test_an_error_that_only_a_person_can_mend_ends_the_sync_and_shows_in_the_health(
    database: Database, tmp_path: Path, error: Exception, status: str, code: str
) -> None:
    provider = notes(2)
    provider.errors = {1: [error]}
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        job = await settled(works, source_id)
        assert (job["status"], job["error_code"]) == ("failed", code)
        assert await works.value("select status::text from ingest.source") == status
        health = await works.value("select ingest.source_health(s) ->> 'state' from ingest.source s")
        assert health == "needs_you"


async def test_a_throttled_sync_waits_as_long_as_asked_and_is_not_charged(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(4)
    provider.errors = {2: [Throttled("Script", 0.2) for _ in range(7)]}
    provider.errors[3] = list(provider.errors[2])
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        job = await settled(works, source_id)
        assert (job["status"], job["items_written"], job["items_failed"]) == ("completed", 4, 0)


async def test_a_forgotten_cursor_restarts_the_stream_without_duplicates(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(4)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        provider.put("004", "Note 4 is new.")
        provider.delete("000", quietly=True)
        provider.errors = {provider.pages + 1: [CursorExpired("Script", "notes")]}
        job = await synced(works, source_id)
        assert (job["status"], job["items_written"], job["items_removed"]) == ("completed", 1, 1)
        assert await works.value("select count(*) from ingest.document where deleted_at is null") == 4


async def test_a_record_without_a_required_field_fails_alone_with_its_path(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(3)
    del provider.records["notes"]["001"]["text"]
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        job = await settled(works, source_id)
        assert (job["status"], job["items_written"], job["items_failed"]) == ("completed", 2, 1)
        assert '"path": "text"' in job["error_details"]
        assert '"id": "001"' in job["error_details"]


async def test_one_record_that_cannot_be_written_does_not_hold_the_others_up(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(4)
    provider.put("001", "Nothing here can be indexed: \ud800 \x00", odd="\x00\udfff")
    provider.put("003", "Note 3", company="x" * 2_000_000)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        job = await settled(works, source_id)
        assert job["status"] == "completed"
        assert job["items_written"] + job["items_failed"] == 4
        assert await works.find("turbine 2", mode="text") != ()


async def test_a_request_during_a_sync_causes_exactly_one_more(database: Database, tmp_path: Path) -> None:
    provider = notes(6)
    async with syncing(database, tmp_path, provider) as works:

        async def ask(page: int) -> None:
            if page <= 3:
                async with works.engine.tenants.transaction(works.tenant_id) as conn:
                    await conn.execute("select ingest.request_sync($1)", source_id)

        provider.on_page = ask
        source_id = await add_source(works)
        await settled(works, source_id)
        kinds = await works.value("select array_agg(kind order by job_id) from ingest.ingestion_job")
        assert kinds == ["full_sync", "delta_sync"], "nobody asked for everything again"
        assert await works.value("select count(*) from ingest.document") == 6


async def test_a_paused_source_stops_in_the_middle_and_goes_on_when_resumed(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(6)
    async with syncing(database, tmp_path, provider) as works:

        async def pause(page: int) -> None:
            if page == 2:
                await works.engine.sources.pause(works.tenant_id, source_id)

        provider.on_page = pause
        source_id = await add_source(works)

        async def is_stopped() -> bool:
            return provider.pages == 2 and await works.value("select count(*) from queues.lease") == 0

        await eventually(is_stopped)
        assert await works.value("select count(*) from ingest.document") <= 2
        provider.on_page = None
        await works.engine.sources.resume(works.tenant_id, source_id)
        await settled(works, source_id)
        assert await works.value("select count(*) from ingest.document") == 6


async def test_long_texts_are_indexed_by_the_queue_in_the_same_document(
    database: Database, tmp_path: Path
) -> None:
    provider = ScriptedProvider()
    provider.put("1", "\n\n".join(f"Paragraph {n} of the long report on weirs." for n in range(400)))
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        document_id = await works.value("select document_id from ingest.document")
        document = await works.settled(document_id)
        assert (document.status, document.chunk_count > 1) == ("indexed", True)
        provider.put("1", "Short now: nothing but weirs.")
        await synced(works, source_id)
        document = await works.settled(document_id)
        assert (document.status, document.chunk_count) == ("indexed", 1)
        (hit, *_) = await works.find("weirs", mode="text")
        assert hit.text == "Short now: nothing but weirs."


async def test_another_tenant_sees_nothing_of_a_sync_and_cannot_start_one(
    database: Database, tmp_path: Path
) -> None:
    provider = notes(2)
    async with syncing(database, tmp_path, provider) as works:
        source_id = await add_source(works)
        await settled(works, source_id)
        async with works_on(database, tmp_path / "other", slug="rival") as rival:
            assert await rival.find("turbine", mode="text") == ()
            assert list(await rival.engine.sources.list(rival.tenant_id)) == []
            with pytest.raises(NotFound):
                async with rival.engine.tenants.transaction(rival.tenant_id) as conn:
                    await conn.execute("select ingest.request_sync($1)", source_id)
