"""The supervised removal of files: what deleting a document starts, what it leaves, what blocks it."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import pytest

from penstock.cli.demo import files as demo_files
from penstock.db.tenancy import TenantPool
from penstock.model import DocumentId, TenantId
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import eventually

NOTE = "The sluice was opened at noon. The wheel began to turn."
SHORT_BACKOFF = (
    "create or replace function internal.exponential(_first interval, _factor double precision,"
    " _most interval, _failures integer) returns interval"
    " language sql immutable parallel safe as $$ select interval '50 milliseconds' $$"
)
OPEN = "select count(*) from internal.open_root"
OVER = "select count(*) = 0 from internal.open_root"


@asynccontextmanager
async def hurried(database: Database, tmp_path: Path, **settings: Any) -> AsyncIterator[Works]:
    """The engine with a process's pauses made short."""
    async with database.connect("admin") as admin:
        await admin.execute(SHORT_BACKOFF)
    async with works_on(database, tmp_path, poll_interval=0.2, **settings) as works:
        yield works


async def kickoff(works: Works, file_id: UUID | None) -> tuple[str | None, int | None]:
    """As an operator in a transaction of the tenant."""
    operators = await TenantPool.open(works.database.operator_url, application_name="operator", size=1)
    try:
        async with operators.transaction(works.tenant_id) as conn:
            (row,) = await conn.fetch("select * from files.kickoff_file_deletion($1)", file_id)
            return row["validation_failure_message"], row["file_deletion_task_id"]
    finally:
        await operators.close()


async def of_the_file(works: Works, query: str) -> object:
    """What an operator reads of the tenant's views."""
    operators = await TenantPool.open(works.database.operator_url, application_name="operator", size=1)
    try:
        async with operators.transaction(works.tenant_id) as conn:
            return await conn.fetchval(query)
    finally:
        await operators.close()


async def file_of(works: Works, document_id: DocumentId) -> UUID:
    found: UUID = await works.value("select file_id from ingest.document where document_id = $1", document_id)
    return found


def blobs(folder: Path) -> list[str]:
    return sorted(path.name for path in (folder / "blobs" / "documents").iterdir())


@pytest.mark.parametrize("index", ["pgvector", "qdrant in a folder"])
async def test_a_deleted_document_leaves_the_store_the_index_and_the_cache(
    database: Database, tmp_path: Path, index: str
) -> None:
    qdrant: dict[str, Any] = (
        {"index": "qdrant", "qdrant_url": str(tmp_path / "qdrant")} if index != "pgvector" else {}
    )
    async with works_on(database, tmp_path, **qdrant) as works, works.working():
        kept = await works.index("The mill stands by the river and grinds the corn of the valley.")
        document = await works.index(NOTE)
        await works.engine.documents.delete(works.tenant_id, document.document_id)
        assert [hit.document_id for hit in await works.find("sluice")] in ([], [kept.document_id])
        await eventually(lambda: works.value(OVER))
        assert blobs(tmp_path) == [str(await file_of(works, kept.document_id))]
        for table in ("chunk", "posting"):
            rest = f"select count(*) from ingest.{table} where document_id <> $1"
            assert await works.value(rest, kept.document_id) == 0, table
        assert await works.value("select count(*) from ingest.embedding_cache") == kept.chunk_count
        if index == "pgvector":
            assert await works.value("select count(*) from ingest.chunk_vector") == kept.chunk_count
        assert (await works.event_names(document.document_id))[-2:] == ["deleted", "removed"]
        assert await of_the_file(works, "select count(*) from files.file_deletion_task_succeeded") == 1
        deleted = (
            "select metadata ->> 'deleted' from files.file_metadata where metadata ->> 'document_id' = '{}'"
        )
        assert await of_the_file(works, deleted.format(document.document_id)) == "true"
        assert await of_the_file(works, deleted.format(kept.document_id)) == "false"


async def test_a_store_that_fails_twice_is_asked_a_third_time(database: Database, tmp_path: Path) -> None:
    async with hurried(database, tmp_path) as works:
        document_id = (await works.hand_in(NOTE)).document_id
        blob = tmp_path / "blobs" / "documents" / str(await file_of(works, document_id))
        blob.unlink()
        blob.mkdir()  # a folder cannot be removed as a blob
        async with works.working():
            await works.engine.documents.delete(works.tenant_id, document_id)
            failures = "select count(*) from files.file_deletion_attempt_failed"
            await eventually(lambda: works.value(f"select ({failures}) >= 2"))
            blob.rmdir()
            await eventually(lambda: works.value(OVER))
        assert await works.value(failures) in (2, 3, 4)
        assert await works.value("select count(*) from files.file_deletion_attempt_succeeded") == 1
        assert await works.value(
            "select count(*) = (select count(*) from files.file_deletion_attempt_failed) from queues.error"
        ), "each failure is recorded against its task as well"


async def test_a_removal_that_keeps_failing_is_stuck_and_can_be_started_again(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path) as works:
        document_id = (await works.hand_in(NOTE)).document_id
        file_id = await file_of(works, document_id)
        blob = tmp_path / "blobs" / "documents" / str(await file_of(works, document_id))
        blob.unlink()
        blob.mkdir()
        async with works.working():
            await works.engine.documents.delete(works.tenant_id, document_id)
            await eventually(lambda: works.value(OVER))
            assert await of_the_file(works, "select count(*) from files.file_deletion_task_failed") == 5
            async with database.connect("admin") as admin:
                await admin.execute(
                    "select set_config('penstock.tenant_id', $1, false)", str(works.tenant_id)
                )
                assert await admin.fetchval("select files.is_file_deletion_stuck($1)", file_id)
            assert await works.value("select count(*) from queues.dead_letter") == 0
            blob.rmdir()
            async with database.connect("admin") as admin:
                await admin.execute(
                    "select set_config('penstock.tenant_id', $1, false)", str(works.tenant_id)
                )
                assert await admin.fetchval(
                    "select internal.restart_process('files.file_deletion', file_deletion_task_id)"
                    " from files.file_deletion_task"
                )
            await eventually(
                lambda: works.value("select count(*) = 1 from files.file_deletion_attempt_succeeded")
            )
            await eventually(lambda: works.value(OVER))


async def test_a_file_in_use_an_unknown_file_and_another_tenants_are_refused_with_a_message(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works:
        in_use = await file_of(works, (await works.hand_in(NOTE)).document_id)
        for file_id, words in (
            (None, "file_id is missing"),
            (uuid4(), "there is no file"),
            (in_use, "delete the document"),
        ):
            message, task = await kickoff(works, file_id)
            assert words in (message or "")
            assert task is None
        works.tenant = replace(works.tenant, tenant_id=TenantId(uuid4()))
        assert "there is no file" in ((await kickoff(works, in_use))[0] or "")
        assert await works.value("select count(*) from files.file_deletion_task") == 0
        assert await works.value(OPEN) == 0


async def test_deleting_twice_starts_one_removal(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works:
        document_id = (await works.hand_in(NOTE)).document_id
        await works.engine.documents.delete(works.tenant_id, document_id)
        file_id = await file_of(works, document_id)
        first, second = await kickoff(works, file_id), await kickoff(works, file_id)
        assert first == second
        assert first[0] is None
        assert await works.value("select count(*) from files.file_deletion_task") == 1
        supervisors = "select count(*) from queues.task where payload ->> 'db_function' like 'files.%'"
        assert await works.value(supervisors) == 1


async def test_a_run_in_progress_ends_before_its_blob_is_removed(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path, parse_seconds=60) as works, works.working():
        scan = demo_files.scan_pdf([[f"# Page {n}", "A page of a scan takes a second."] for n in range(12)])
        document_id = (await works.hand_in(scan, "scan.pdf")).document_id
        status = "select status = 'processing' from ingest.document"
        await eventually(lambda: works.value(status), within=30)
        await works.engine.documents.delete(works.tenant_id, document_id)
        await eventually(lambda: works.value(OVER), within=30)
        ended, begun = await works.value(
            "select array[(select max(closed_at) from queues.attempt a join queues.task t using (task_id)"
            " where t.task_type = 'ingest-document'),"
            " (select min(created_at) from files.file_deletion_attempt)]"
        )
        assert ended <= begun
        assert blobs(tmp_path) == []


async def test_the_original_payload_reaches_the_handlers_whole(database: Database, tmp_path: Path) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        document_id = (await works.hand_in(NOTE)).document_id
        await works.engine.documents.delete(works.tenant_id, document_id)
        await eventually(lambda: works.value(OVER))
        payload = json.loads(
            await works.value("select payload from queues.task where task_type = 'file_delete'")
        )
        file_id = str(await file_of(works, document_id))
        assert payload == {
            "task_type": "file_delete",
            "file_deletion_task_id": 1,
            "file_deletion_attempt_id": 1,
            "file_id": file_id,
            "before_handler": "files.get_file_delete_payload",
            "success_handler": "files.record_file_delete_success",
            "error_handler": "files.record_file_delete_failure",
        }
