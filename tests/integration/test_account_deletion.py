"""The deletion of an account: its steps, what stops it, how it continues, and what proves it."""

from __future__ import annotations

import asyncio
import hashlib
import shutil
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID, uuid4

import boto3  # type: ignore[import-untyped]  # it has no stubs
import pytest

from penstock.accounts import Accounts, DeletionRequested
from penstock.db.connect import translated
from penstock.db.tenancy import TenantPool
from penstock.errors import InvalidMove, KeyRefused, NotFound, TenantClosed
from penstock.model import TenantId
from tests.integration.deleting import digests, ended, hurried, replaced, seen
from tests.integration.qdrant_tenants import simulated
from tests.plugins.database import Database
from tests.plugins.documents import Works, once
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(180)

NOTES = ("The sluice was opened at noon.", "The wheel began to turn.")


async def filled(works: Works) -> list[UUID]:
    """Two indexed documents; the ids of their files."""
    for note in NOTES:
        await works.index(note)
    rows = await works.value("select array_agg(file_id order by file_id) from files.file")
    return list(rows)


async def request(works: Works) -> DeletionRequested:
    return await works.engine.deletions.request(works.tenant_id)


async def another(works: Works, slug: str = "other") -> TenantId:
    operators = await TenantPool.open(works.database.operator_url, application_name="operator", size=1)
    try:
        return (await Accounts(operators, works.engine.settings).create_tenant(slug)).tenant_id
    finally:
        await operators.close()


async def flags(works: Works) -> list[str]:
    found = await works.value("select array_agg(flag order by flag) from accounts.account_flag")
    return list(found or [])


async def test_an_account_is_deleted_file_by_file_then_its_data_and_then_a_receipt_is_written(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path) as works:
        async with works.working():
            files = await filled(works)
        requested = await request(works)
        assert await flags(works) == ["deleted"]
        assert await works.value("select count(*) from accounts.account_deletion_task") == 1
        assert (await works.engine.deletions.show(works.tenant_id)).status == "running"
        async with works.working():
            deletion = await ended(works)
        assert (deletion.status, deletion.files_left, deletion.error) == ("succeeded", 0, None)
        for file_id in files:
            assert await seen(
                works,
                "select count(*) from files.file_deletion_task t"
                " join files.file_deletion_task_succeeded using (file_deletion_task_id) where t.file_id = $1",
                file_id,
            )
            assert await seen(
                works,
                "select (metadata ->> 'deleted')::boolean from files.file_metadata where file_id = $1",
                file_id,
            )
        assert await works.value("select count(*) from accounts.account_anonymization_task") == 1
        assert await flags(works) == ["anonymized", "deleted"]
        assert (
            await seen(works, "select account_deletion_task_id from accounts.account_deletion_task_succeeded")
            == requested.account_deletion_task_id
        )
        assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]
        assert await works.value("select count(*) from internal.open_root") == 0


async def test_the_receipt_counts_what_was_removed_and_its_hash_reveals_a_changed_copy(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path, backup_retention_days=12) as works, works.working():
        await filled(works)
        await works.engine.accounts.create_key(works.tenant_id, "ci", ["search"])
        contents = await works.value("select string_agg(content_sha256, '' order by file_id) from files.file")
        requested = await request(works)
        deletion = await ended(works)
        assert requested.receipt_token is not None
        assert await works.engine.deletions.find(requested.receipt_token) == deletion
        assert deletion.receipt_is_unchanged
        receipt: dict[str, Any] = dict(deletion.receipt or {})
        assert receipt["account_id"] == str(works.tenant_id)
        removed = receipt["removed"]
        assert (removed["files"], removed["documents"], removed["chunks"]) == (2, 2, 2)
        assert removed["bytes"] == sum(map(len, NOTES))
        assert removed["api_key"] == 1
        assert removed["tasks"] >= 2
        assert receipt["overwritten"]["ingestions"] == 2
        assert receipt["contents_sha256"] == hashlib.sha256(contents).hexdigest()
        times = [
            datetime.fromisoformat(receipt[name])
            for name in ("requested_at", "files_removed_at", "anonymized_at", "completed_at")
        ]
        assert times == sorted(times)
        assert receipt["backups"]["retention_days"] == 12
        assert datetime.fromisoformat(receipt["backups"]["held_until"]) == times[-1] + timedelta(days=12)
        forged = replace(deletion, receipt=receipt | {"removed": removed | {"files": 3}})
        assert not forged.receipt_is_unchanged
        assert (await works.engine.accounts.show_tenant(works.tenant_id)).name == "anonymized"
        assert await works.value("select count(*) from ingest.ingestion where uploaded_by = 'test'") == 0


async def test_a_file_that_cannot_be_removed_fails_the_deletion_by_name_and_a_new_request_continues(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path) as works, works.working():
        files = await filled(works)
        store = tmp_path / "blobs" / "documents"
        shutil.move(store, tmp_path / "away")
        store.write_bytes(b"not a folder")
        requested = await request(works)
        deletion = await ended(works)
        assert deletion.status == "failed"
        assert deletion.error is not None
        assert await seen(works, "select count(*) from files.file_deletion_task_failed") >= 5
        stuck = [
            file_id
            for file_id in files
            if await seen(works, "select files.is_file_deletion_stuck($1)", file_id)
        ]
        assert any(str(file_id) in deletion.error for file_id in stuck), deletion.error
        told = await seen(works, "select error_message from accounts.account_deletion_task_failed")
        assert told == deletion.error
        assert requested.receipt_token is not None
        outside = (await works.engine.deletions.find(requested.receipt_token)).error or ""
        assert "could not be deleted" in outside
        assert not any(inside in outside for inside in ("/", str(tmp_path), *map(str, files))), outside
        assert await flags(works) == ["deleted"]
        await eventually(lambda: works.value("select count(*) = 0 from internal.open_root"))

        store.unlink()
        shutil.move(tmp_path / "away", store)
        again = await request(works)
        assert again.account_deletion_task_id == requested.account_deletion_task_id
        assert again.receipt_token is None
        assert (await ended(works)).status == "succeeded"
        assert not list(store.iterdir())
        assert await works.value("select count(*) from accounts.account_deletion_task") == 1


async def test_an_anonymization_that_raises_fails_the_deletion_with_its_error_and_a_new_request_continues(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path) as works, works.working():
        await filled(works)
        async with replaced(database, "accounts.anonymize_account", "begin raise 'the pen broke'; end"):
            await request(works)
            deletion = await ended(works)
        assert (deletion.status, deletion.receipt) == ("failed", None)
        assert "could not be anonymized" in (deletion.error or "")
        assert "the pen broke" in (deletion.error or "")
        assert await seen(works, "select count(*) from accounts.account_anonymization_task_failed") == 5
        assert await seen(works, "select accounts.is_account_anonymization_stuck($1)", works.tenant_id)
        assert await seen(works, "select count(*) from accounts.account_deletion_task_failed") == 1
        await eventually(lambda: works.value("select count(*) = 0 from internal.open_root"))
        assert await flags(works) == ["deleted"]

        await request(works)
        assert (await ended(works)).status == "succeeded"
        left = "select count(*) from accounts.account_anonymization_task_failed where error_message ~ 'broke'"
        assert await seen(works, left) == 0


async def test_after_the_request_keys_stop_working_and_nothing_is_accepted(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path) as works:
        engine = works.engine
        key = await engine.accounts.create_key(works.tenant_id, "ci", ["admin"])
        taken = await works.hand_in(NOTES[0])
        caller = await engine.accounts.authenticate(key.secret)
        await request(works)
        with pytest.raises(KeyRefused, match="revoked"):
            await engine.accounts.authenticate(key.secret)
        late: tuple[Callable[[], Awaitable[object]], ...] = (
            lambda: works.hand_in(NOTES[1]),
            lambda: engine.intake.replace(works.tenant_id, taken.document_id, once(b"other")),
            lambda: engine.accounts.create_key(works.tenant_id, "late", ["search"]),
            lambda: engine.accounts.create_project(works.tenant_id, "late"),
            lambda: engine.accounts.set_project(works.tenant_id, "default", name="late"),
            lambda: engine.accounts.set_tenant(works.tenant_id, name="late"),
            lambda: engine.completion_webhooks.put(works.tenant_id, "http://127.0.0.1/late"),
            lambda: engine.webhooks.rotate(works.tenant_id),
            lambda: engine.replies.begin(caller, "late", b"\0" * 32),
            lambda: engine.messages.send_sms(works.tenant_id, to="+4930123456", text="late"),
        )
        for call in late:
            with pytest.raises(TenantClosed):
                await call()
        written = "select count(*) from accounts.api_key where name = 'late'"
        assert await works.value(written) == 0


async def test_uploads_that_race_the_request_are_refused_or_deleted_with_the_rest(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path) as works, works.working():
        uploads = [works.hand_in(f"Note {number} of the mill.") for number in range(12)]
        answers = await asyncio.gather(*uploads[:6], request(works), *uploads[6:], return_exceptions=True)
        refused = [answer for answer in answers if isinstance(answer, BaseException)]
        assert all(isinstance(answer, TenantClosed) for answer in refused), refused
        deletion = await ended(works)
        assert deletion.status == "succeeded"
        assert (deletion.receipt or {})["removed"]["files"] == 12 - len(refused)
        assert not [path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]


TENDED = {"ingest.lexeme_count", "ingest.stage_sample", "ingest.text_move", "ingest.text_statistics"}
"""Counts that maintenance renews for every tenant, at any time."""


async def test_another_tenant_is_untouched(database: Database, tmp_path: Path) -> None:
    async with hurried(database, tmp_path) as works, works.working():
        theirs = await another(works)
        for tenant_id in (works.tenant_id, theirs):
            await works.engine.accounts.create_key(tenant_id, "ci", ["search"])
            for note in NOTES:  # the same bytes, so that what is shared by mistake shows
                taken = await works.engine.intake.take_in(tenant_id, once(note.encode()), uploaded_by="test")
                await works.engine.documents.wait(tenant_id, taken.document_id, 60)
        async with database.connect("admin") as admin:
            await eventually(lambda: works.value("select count(*) = 0 from queues.lease"))
            before = await digests(admin, theirs)
            await request(works)
            assert (await ended(works)).status == "succeeded"
            after = await digests(admin, theirs)
            assert {table: rows for table, rows in after.items() if table not in TENDED} == {
                table: rows for table, rows in before.items() if table not in TENDED
            }
        assert before.keys() >= {"ingest.chunk", "ingest.embedding_cache", "queues.task", "files.file"}
        assert len([path for path in (tmp_path / "blobs").rglob("*") if path.is_file()]) == 2


async def test_a_second_request_is_the_same_deletion_with_the_first_token(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path) as works:
        first, *others = await asyncio.gather(*[request(works) for _ in range(4)])
        assert {each.account_deletion_task_id for each in others} == {first.account_deletion_task_id}
        (token,) = [each.receipt_token for each in (first, *others) if each.receipt_token is not None]
        assert (await works.engine.deletions.find(token)).status == "running"
        assert await works.value("select count(*) from accounts.account_deletion_task") == 1
        assert await works.value("select count(*) from internal.open_root") == 1
        kept = await works.value("select receipt_token_sha256 from accounts.account_deletion_task")
        assert kept == hashlib.sha256(token.encode()).digest()
        with pytest.raises(NotFound):
            await works.engine.deletions.find("x" * 43)


async def test_a_request_for_another_or_no_account_writes_nothing(database: Database, tmp_path: Path) -> None:
    async with hurried(database, tmp_path) as works:
        theirs = await another(works)
        for account_id in (theirs, uuid4(), None):
            async with works.engine.tenants.transaction(works.tenant_id) as conn:
                row = await conn.fetchrow("select * from api.request_account_deletion($1)", account_id)
            assert row is not None
            assert "account" in row["validation_failure_message"]
            assert row["account_deletion_task_id"] is None
        for table in ("account_flag", "account_deletion_task"):
            assert await works.value(f"select count(*) from accounts.{table}") == 0
        assert await works.value("select count(*) from queues.task") == 0
        assert await works.value("select bool_and(status = 'active') from accounts.tenant")
        with pytest.raises(NotFound):
            await works.engine.deletions.request(TenantId(uuid4()))
        with pytest.raises(NotFound):
            await works.engine.deletions.show(works.tenant_id)


async def test_the_deletion_waits_for_an_open_lease_and_refuses_its_late_close(
    database: Database, tmp_path: Path
) -> None:
    async with hurried(database, tmp_path) as works, database.connect("runtime") as frozen:
        await frozen.execute("select queues.put_task_type('sync', _queue => 'sync')")
        worker = await frozen.fetchval("select queues.register_worker('w', '{sync}', interval '3 seconds')")
        task = await frozen.fetchval("select queues.enqueue('sync', '{}', _tenant_id => $1)", works.tenant_id)
        lease = await frozen.fetchval("select lease_id from queues.claim($1, 'sync', 1)", worker)
        assert lease is not None
        await request(works)
        async with works.working():
            waits = "select count(*) = 1 from queues.stopped_tenant s join queues.lease l using (tenant_id)"
            await eventually(lambda: works.value(f"{waits} where l.lease_id = $1", lease))
            with pytest.raises(InvalidMove, match="running"):
                with translated():
                    await seen(works, "select internal.erase_tenant($1)", works.tenant_id)
            assert (await ended(works)).status == "succeeded"
        assert await frozen.fetchval("select queues.complete($1, $2)", worker, [lease]) == []
        assert await works.value("select count(*) from queues.attempt where task_id = $1", task) == 0
        with pytest.raises(TenantClosed):
            async with works.engine.tenants.transaction(works.tenant_id) as conn:
                await conn.execute("select queues.enqueue('sync', '{}')")


@pytest.mark.parametrize("place", ["qdrant", "bucket", "signed"])
async def test_files_and_vectors_outside_the_database_are_deleted_too(
    database: Database, tmp_path: Path, bucket: str, place: str
) -> None:
    in_bucket = {
        "blob_url": "s3://originals/all",
        "s3_endpoint": bucket,
        "file_delete_signed": place == "signed",
    }
    async with AsyncExitStack() as opened:
        settings: dict[str, Any] = in_bucket
        if place == "qdrant":
            server, url = await opened.enter_async_context(simulated())
            settings = {"index": "qdrant", "qdrant_url": url}
        works = await opened.enter_async_context(hurried(database, tmp_path, **settings))
        await opened.enter_async_context(works.working())
        await filled(works)
        objects = boto3.client("s3", endpoint_url=bucket, region_name="us-east-1")
        if place == "qdrant":
            (shard,) = server.shards.values()
            assert shard.shard.info().points_count > 0
        else:
            assert objects.list_objects_v2(Bucket="originals")["KeyCount"] == 2
        await request(works)
        assert (await ended(works)).status == "succeeded"
        if place == "qdrant":
            # The collection stays: other tenants have points in it.
            assert shard.shard.info().points_count == 0
        assert objects.list_objects_v2(Bucket="originals")["KeyCount"] == 0
