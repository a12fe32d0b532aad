"""The supervised removal of files: what DELETE of a document starts, and what it leaves."""

from __future__ import annotations

from pathlib import Path

from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.workers import eventually

NOTE = "The sluice was opened at noon. The wheel began to turn."


async def _removed(works: Works) -> bool:
    return bool(
        await works.value(
            "select count(*) > 0 and bool_and(blob_path like 'removed/%') from files.file where deleted_at is not null"
        )
    )


async def test_a_deleted_document_leaves_the_store_the_index_and_the_cache(
    database: Database, tmp_path: Path
) -> None:
    async with works_on(database, tmp_path) as works, works.working():
        document = await works.index(NOTE)
        await works.product.documents.delete(works.tenant_id, document.document_id)
        assert await works.find("sluice") == ()
        await eventually(lambda: _removed(works))
        assert not list((tmp_path / "blobs" / "documents").iterdir())
        for table in ("chunk", "chunk_vector", "posting", "embedding_cache"):
            assert await works.value(f"select count(*) from ingest.{table}") == 0, table
        assert (await works.story(document.document_id))[-2:] == ["deleted", "removed"]
        await eventually(lambda: works.value("select count(*) = 0 from internal.open_root"))
        assert await works.value("select count(*) from files.file_deletion_attempt_succeeded") == 1
        metadata = await works.value("select metadata ->> 'deleted' from files.file_metadata")
        assert metadata == "true"
