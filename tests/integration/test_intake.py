"""Accepting documents: by content, once, streamed, with the blob and the rows in one transaction."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from penstock.documents.pipeline_config import PipelineConfig
from penstock.errors import Conflict, InvalidArgument, NotFound, TenantClosed, TooLarge
from penstock.model import DocumentId, DocumentStatus, IngestionStatus, SourceId, uuid7
from tests.integration.intake_services import intake_services, pieces
from tests.plugins.database import Database

PDF = b"%PDF-1.7\n" + b"x" * 2000


async def test_a_document_is_accepted_with_its_blob_its_file_and_its_task(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        taken = await here.upload(PDF, filename="report.pdf", metadata={"year": 2025}, external_id="r-1")
        assert (taken.created, taken.skipped, taken.status) == (True, False, IngestionStatus.QUEUED)
        document = await here.documents.show(here.acme, taken.document_id)
        assert (document.status, document.mime_type, document.size_bytes) == (
            DocumentStatus.PENDING, "application/pdf", len(PDF),
        )  # fmt: skip
        assert (document.filename, document.metadata, document.external_id) == (
            "report.pdf", {"year": 2025}, "r-1",
        )  # fmt: skip
        assert here.blobs.files == await here.live_blobs() == {await here.blob_of(taken.document_id)}
        content = await here.documents.content(here.acme, taken.document_id)
        assert b"".join([piece async for piece in content.stream]) == PDF
        ingestion = await here.documents.ingestion(here.acme, taken.ingestion_id)
        assert (ingestion.uploaded_by, ingestion.source_metadata) == ("tests", {"filename": "report.pdf"})
        assert await here.value("select queues.task_state($1)", taken.task_id) == "waiting"


async def test_the_same_content_again_reuses_the_document_and_joins_its_run(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        first = await here.upload(PDF)
        written = (here.blobs.folder / here.blobs.written[0]).stat().st_mtime_ns
        second = await here.upload(PDF, filename="again.pdf", uploaded_by="somebody else")
        assert (second.created, second.skipped, second.status) == (False, False, IngestionStatus.QUEUED)
        assert (second.document_id, second.task_id) == (first.document_id, first.task_id)
        assert second.ingestion_id != first.ingestion_id
        assert len(here.blobs.written) == 1
        assert (here.blobs.folder / here.blobs.written[0]).stat().st_mtime_ns == written
        await here.index(first.document_id)
        ended = await here.documents.ingestions(here.acme, first.document_id)
        assert [one.status for one in ended] == [IngestionStatus.INDEXED] * 2


async def test_content_indexed_with_todays_pipeline_is_unchanged_at_once(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        first = await here.upload(PDF)
        await here.index(first.document_id)
        tasks = await here.value("select count(*) from queues.task")
        second = await here.upload(PDF)
        assert (second.created, second.skipped, second.status) == (False, True, IngestionStatus.UNCHANGED)
        ingestion = await here.documents.ingestion(here.acme, second.ingestion_id)
        assert (ingestion.status, ingestion.finished_at is not None) == (IngestionStatus.UNCHANGED, True)
        assert await here.value("select count(*) from queues.task") == tasks
        assert len(here.blobs.written) == 1
        assert (await here.documents.show(here.acme, first.document_id)).status is DocumentStatus.INDEXED


@pytest.mark.parametrize("change", ["project", "document"])
async def test_content_indexed_with_another_pipeline_runs_again(
    database: Database, tmp_path: Path, change: str
) -> None:
    async with intake_services(database, tmp_path) as here:
        first = await here.upload(PDF)
        await here.index(first.document_id)
        config = None
        if change == "project":
            await here.accounts.set_project(here.acme, "default", chunk_tokens=128)
        else:
            config = PipelineConfig(language="german")
        second = await here.upload(PDF, pipeline_config=config)
        assert (second.created, second.skipped) == (False, False)
        assert second.task_id is not None
        assert first.task_id is not None
        assert second.task_id > first.task_id
        await here.index(first.document_id)
        assert (await here.upload(PDF, pipeline_config=config)).skipped


async def test_projects_and_tenants_do_not_share_content(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        other = (await here.accounts.create_tenant("other")).tenant_id
        await here.accounts.create_project(here.acme, "mail")
        taken = [
            await here.upload(PDF),
            await here.upload(PDF, project="mail"),
            await here.upload(PDF, tenant_id=other),
        ]
        assert all(one.created for one in taken)
        assert len({one.document_id for one in taken}) == len(here.blobs.files) == 3


async def test_deleting_releases_the_hash(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        first = await here.upload(PDF)
        await here.index(first.document_id)
        assert await here.documents.delete(here.acme, first.document_id) == 1
        second = await here.upload(PDF)
        assert second.created
        assert second.document_id != first.document_id
        assert len(here.blobs.written) == 2
        with pytest.raises(NotFound):
            await here.documents.delete(here.acme, first.document_id)


async def test_an_upload_over_the_limit_is_refused_before_it_ends(database: Database, tmp_path: Path) -> None:
    read = 0

    async def endless() -> AsyncIterator[bytes]:
        nonlocal read
        while True:
            read += 1000
            yield b"x" * 1000

    async with intake_services(database, tmp_path, max_upload_bytes=50_000) as here:
        for limit, most in ((None, 51_000), (10_000, 11_000)):
            read = 0
            with pytest.raises(TooLarge):
                await here.intake.take_in(here.acme, endless(), uploaded_by="tests", max_bytes=limit)
            assert read == most
        assert here.blobs.files == set()
        assert await here.value("select count(*) from ingest.document") == 0


async def test_the_tenants_own_limit_holds_whatever_the_caller_says(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        await here.accounts.set_tenant(here.acme, max_upload_bytes=100)
        with pytest.raises(TooLarge):
            await here.upload(PDF)
        await here.upload(PDF[:100])
        assert len(here.blobs.written) == 1


async def test_a_large_document_goes_through_a_file_and_comes_back_whole(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        content = bytes(range(256)) * 12_000
        taken = await here.upload(content)
        found = await here.documents.content(here.acme, taken.document_id)
        assert b"".join([piece async for piece in found.stream]) == content
        assert not (await here.upload(content)).created


@pytest.mark.parametrize(
    ("content", "filename", "declared", "told"),
    [
        (PDF, "innocent.txt", "text/plain", "application/pdf"),
        (b"\x89PNG\r\n\x1a\n" + b"\0" * 50, None, "application/pdf", "image/png"),
        (b"# Title\n\nwords", "notes.md", None, "text/markdown"),
        (b"plain words", None, "application/pdf", "text/plain"),
    ],
)
async def test_the_type_is_what_the_content_says(
    database: Database, tmp_path: Path, content: bytes, filename: str | None, declared: str | None, told: str
) -> None:
    async with intake_services(database, tmp_path) as here:
        taken = await here.upload(content, filename=filename, declared_type=declared)
        assert (await here.documents.show(here.acme, taken.document_id)).mime_type == told


async def test_an_origin_is_exactly_one_and_known(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        with pytest.raises(InvalidArgument):
            await here.intake.take_in(here.acme, pieces(PDF))
        with pytest.raises(InvalidArgument):
            await here.intake.take_in(
                here.acme, pieces(PDF), uploaded_by="tests", source_id=SourceId(uuid7())
            )
        with pytest.raises(NotFound):
            await here.upload(PDF, source_id=SourceId(uuid7()))
        with pytest.raises(NotFound):
            await here.upload(PDF, project="nowhere")
        with pytest.raises(NotFound):
            await here.upload(PDF, parent_document_id=uuid7())
        with pytest.raises(InvalidArgument, match="empty"):
            await here.upload(b"")
        assert here.blobs.files == set()


async def test_a_closed_tenant_accepts_nothing(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        await here.admin.execute("update accounts.tenant set status = 'deleted', deleted_at = now()")
        with pytest.raises(TenantClosed):
            await here.upload(PDF)


async def test_an_unusual_filename_is_kept_as_far_as_possible(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        taken = await here.upload(PDF, filename="a\x00b" + "ü" * 600 + ".pdf")
        name = (await here.documents.show(here.acme, taken.document_id)).filename
        assert name is not None
        assert name.endswith("ü.pdf")
        assert len(name) == 512


async def test_an_external_id_names_one_document_and_other_content_replaces_it(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        first = await here.upload(b"version one", external_id="x")
        await here.index(first.document_id)
        assert (await here.upload(b"version one", external_id="x")).skipped
        second = await here.upload(b"version two", external_id="x")
        assert (second.created, second.skipped, second.document_id) == (False, False, first.document_id)
        document = await here.documents.show(here.acme, first.document_id)
        assert (document.status, document.searchable) == (DocumentStatus.PENDING, True)
        assert len(here.blobs.written) == 2
        assert here.blobs.files > await here.live_blobs()
        await here.accounts.create_project(here.acme, "mail")
        assert (await here.upload(b"version two", external_id="x", project="mail")).created


async def test_the_same_content_under_two_external_ids_is_two_documents(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        plain = await here.upload(PDF)
        one, two = await here.upload(PDF, external_id="x"), await here.upload(PDF, external_id="y")
        assert one.created
        assert two.created
        assert len({plain.document_id, one.document_id, two.document_id}) == 3
        changed = await here.upload(b"version two", external_id="x")
        assert (changed.created, changed.document_id) == (False, one.document_id)
        assert (await here.documents.show(here.acme, two.document_id)).content_sha256 == hashlib.sha256(
            PDF
        ).hexdigest()
        again = await here.upload(PDF, external_id="x")
        assert (again.created, again.document_id) == (False, one.document_id)
        assert (await here.upload(PDF)).document_id == plain.document_id


async def test_replaced_content_keeps_the_id_and_the_old_blob_goes_later(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        first = await here.upload(b"one")
        (old,) = here.blobs.files
        changed = await here.intake.replace(here.acme, first.document_id, pieces(b"two"), filename="two.txt")
        assert (changed.created, changed.document_id) == (False, first.document_id)
        assert here.blobs.files == {old} | await here.live_blobs()
        content = await here.documents.content(here.acme, first.document_id)
        assert b"".join([piece async for piece in content.stream]) == b"two"
        same = await here.intake.replace(here.acme, first.document_id, pieces(b"two"))
        assert (same.status, len(here.blobs.written)) == (IngestionStatus.QUEUED, 2)

        async def started() -> int:
            async with here.tenants.all_tenants() as conn:
                count: int = await conn.fetchval("select all_tenants.start_file_deletions()")
                return count

        assert await started() == 0
        await here.admin.execute("update files.file set deleted_at = now() - interval '61 minutes'"
                                 " where deleted_at is not null")  # fmt: skip
        assert (await started(), await started()) == (1, 0)
        removing = "select f.blob_path from files.file_deletion_task t join files.file f using (file_id)"
        assert await here.admin.fetchval(removing) == old
        assert await here.orphans() == set()


async def test_content_that_another_document_has_cannot_be_used_as_a_replacement(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        one, two = await here.upload(b"one"), await here.upload(b"two")
        with pytest.raises(Conflict, match=str(one.document_id)):
            await here.intake.replace(here.acme, two.document_id, pieces(b"one"))
        assert (await here.documents.show(here.acme, two.document_id)).size_bytes == 3
        assert len(here.blobs.written) == 2
        with pytest.raises(NotFound):
            await here.intake.replace(here.acme, DocumentId(uuid7()), pieces(b"three"))


async def test_the_largest_page_still_leads_to_the_next(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        async with here.tenants.transaction(here.acme) as conn:
            await conn.execute(
                """
                select ingest.take_in(
                  gen_random_uuid(), gen_random_uuid(), gen_random_uuid(), 'default',
                  sha256(n::text::bytea), 1, 'text/plain', 'txt', 'code', _uploaded_by => 'tests')
                from generate_series(1, 1005) as g (n)
                """
            )
        first = await here.documents.list(here.acme, limit=1000)
        second = await here.documents.list(here.acme, limit=1000, cursor=first.cursor)
        assert (len(first.items), len(second.items), second.cursor) == (1000, 5, None)
        assert len({document.document_id for document in (*first.items, *second.items)}) == 1005
