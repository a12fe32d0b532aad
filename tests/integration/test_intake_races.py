"""Uploads that race each other, deletions and crashes: one document, one blob, no ingestion forgotten."""

from __future__ import annotations

import asyncio
import random
from pathlib import Path
from uuid import UUID

import pytest

from penstock.db import Connection
from penstock.documents.rows import Taken
from penstock.errors import Conflict, NotFound
from penstock.model import IngestionStatus, uuid7
from tests.integration.intake_services import IntakeServices, intake_services, pieces
from tests.plugins.database import Database
from tests.plugins.workers import eventually

CONTENT = b"the same words in every request"
POSTS = 1000
HANDS = 8
ROUNDS = 25


async def waits(here: IntakeServices) -> None:
    """Until some call of these services waits for a row another transaction holds."""

    async def somebody() -> bool:
        return bool(
            await here.value(
                "select exists (select from pg_stat_activity where datname = current_database()"
                " and application_name = 'intake' and wait_event_type = 'Lock')"
            )
        )

    await eventually(somebody, what="a call waits for a lock")


async def take_in_open(conn: Connection, content_hash: bytes) -> None:
    """The call of an upload whose transaction stays open."""
    await conn.execute(
        "select ingest.take_in($1, $2, $3, 'default', $4, 3, 'text/plain', 'txt', 'parse1.chunk1',"
        " _uploaded_by => 'tests')",
        uuid7(), uuid7(), uuid7(), content_hash,
    )  # fmt: skip


async def test_a_thousand_uploads_of_one_file_create_one_document_and_one_blob(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        taken = await asyncio.gather(*(here.upload(CONTENT) for _ in range(POSTS)))
        assert len({one.document_id for one in taken}) == 1
        assert [one.created for one in taken].count(True) == 1
        assert len({one.ingestion_id for one in taken}) == POSTS
        assert len(here.blobs.written) == len(here.blobs.files) == 1
        assert await here.value("select count(*) from ingest.ingestion") == POSTS
        assert await here.value("select count(*) from queues.task") == 1
        await here.index(taken[0].document_id)
        assert await here.value("select count(*) from ingest.ingestion where status = 'indexed'") == POSTS


async def test_an_upload_that_meets_an_unfinished_delete_makes_a_new_document(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        first = await here.upload(CONTENT)
        async with here.tenants.transaction(here.acme) as conn:
            await conn.execute("select ingest.delete_document($1)", first.document_id)
            upload = asyncio.create_task(here.upload(CONTENT))
            await waits(here)
        second = await upload
        assert second.created
        assert second.document_id != first.document_id
        assert await here.blob_of(second.document_id) in here.blobs.files
        (gone,) = await here.documents.ingestions(here.acme, first.document_id)
        assert (gone.status, gone.skip_reason) == (IngestionStatus.SKIPPED, "deleted")


async def test_a_delete_that_meets_an_unfinished_upload_ends_its_ingestion(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        first = await here.upload(CONTENT)
        content_hash = await here.value("select content_sha256 from ingest.document")
        async with here.tenants.transaction(here.acme) as conn:
            await take_in_open(conn, content_hash)
            delete = asyncio.create_task(here.documents.delete(here.acme, first.document_id))
            await waits(here)
        assert await delete == 1
        ingestions = await here.documents.ingestions(here.acme, first.document_id)
        assert [(one.status, one.skip_reason) for one in ingestions] == [
            (IngestionStatus.SKIPPED, "deleted")
        ] * 2


async def test_an_upload_that_fails_leaves_the_document_to_the_one_that_waited(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        here.blobs.gate, here.blobs.error = asyncio.Event(), OSError("the disk is full")
        first = asyncio.create_task(here.upload(CONTENT))
        await eventually(lambda: here.blobs.written)
        second = asyncio.create_task(here.upload(CONTENT))
        await waits(here)
        here.blobs.gate.set()
        with pytest.raises(OSError, match="the disk is full"):
            await first
        taken = await second
        assert taken.created
        assert here.blobs.files - await here.live_blobs() == {here.blobs.written[0]}


@pytest.mark.parametrize("how", ["the store fails", "the connection dies", "the request is cancelled"])
async def test_a_crash_between_blob_and_commit_leaves_an_orphan_and_nothing_else(
    database: Database, tmp_path: Path, how: str
) -> None:
    async with intake_services(database, tmp_path) as here:
        kept = await here.upload(b"another")
        here.blobs.gate = asyncio.Event()
        upload = asyncio.create_task(here.upload(CONTENT))
        await eventually(lambda: len(here.blobs.written) == 2)
        if how == "the request is cancelled":
            upload.cancel()
        elif how == "the store fails":
            here.blobs.error = OSError("the disk is full")
        else:
            await here.value(
                "select count(pg_terminate_backend(pid)) from pg_stat_activity"
                " where application_name = 'intake' and datname = current_database()"
                " and state = 'idle in transaction'"
            )
        here.blobs.gate.set()
        (ended,) = await asyncio.gather(upload, return_exceptions=True)
        assert isinstance(ended, BaseException)
        here.blobs.gate = here.blobs.error = None
        assert await here.value("select count(*) from ingest.document") == 1
        assert await here.value("select count(*) from ingest.ingestion") == 1
        assert await here.value("select count(*) from files.file") == 1
        assert await here.orphans() == {here.blobs.written[1]}
        assert await here.live_blobs() == {await here.blob_of(kept.document_id)}
        assert (await here.upload(CONTENT)).created


async def test_uploads_and_deletes_at_once_lose_nothing(database: Database, tmp_path: Path) -> None:
    """Every live document has its one blob, and every ingestion ended or has a live task."""
    contents = [f"content {number}".encode() for number in range(3)]
    taken: list[Taken] = []
    async with intake_services(database, tmp_path) as here:

        async def hand(seed: int) -> None:
            chance = random.Random(seed)
            for _ in range(ROUNDS):
                if chance.random() < 0.6 or not taken:
                    taken.append(await here.upload(chance.choice(contents)))
                else:
                    try:
                        await here.documents.delete(here.acme, chance.choice(taken).document_id)
                    except NotFound:
                        continue  # somebody else was first

        await asyncio.gather(*(hand(seed) for seed in range(HANDS)))
        live = await here.live_blobs()
        assert live <= here.blobs.files
        assert len(here.blobs.written) == len(set(here.blobs.written))
        assert (
            len(live)
            == await here.value("select count(*) from ingest.document where deleted_at is null")
            <= 3
        )
        assert await here.orphans() == set()
        open_ones = await here.admin.fetch(
            "select d.task_id, queues.task_state(d.task_id) as state, d.status"
            " from ingest.ingestion i join ingest.document d using (document_id) where i.finished_at is null"
        )
        assert all(row["state"] in ("ready", "waiting", "running", "parked") for row in open_ones), open_ones
        assert all(row["status"] == "pending" for row in open_ones)
        assert await here.value("select count(*) from ingest.ingestion") == len(taken)


async def test_two_changes_to_the_same_content_at_once_leave_one_owner(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        for number in range(10):
            one, two = await here.upload(b"one %d" % number), await here.upload(b"two %d" % number)
            ends = await asyncio.gather(
                here.intake.replace(here.acme, one.document_id, pieces(b"new %d" % number)),
                here.intake.replace(here.acme, two.document_id, pieces(b"new %d" % number)),
                here.upload(b"new %d" % number),
                return_exceptions=True,
            )
            assert all(isinstance(end, Taken | Conflict) for end in ends), ends
            assert any(isinstance(end, Taken) for end in ends)
        assert await here.live_blobs() <= here.blobs.files


async def test_one_document_changed_twice_at_once_keeps_two_blobs(database: Database, tmp_path: Path) -> None:
    async with intake_services(database, tmp_path) as here:
        one = await here.upload(b"one")
        await asyncio.gather(
            *(here.intake.replace(here.acme, one.document_id, pieces(b"new %d" % n)) for n in range(20))
        )
        assert len(here.blobs.files) == 21
        assert await here.value("select count(*) from files.file where deleted_at is null") == 1


async def test_one_external_id_from_two_origins_at_once_is_one_document(
    database: Database, tmp_path: Path
) -> None:
    async with intake_services(database, tmp_path) as here:
        async with here.tenants.transaction(here.acme) as conn:
            secret = await conn.fetchval(
                "select vault.put_secret($1, 'webhook', 'c', 'n', 'w', 'k', '1')", uuid7()
            )
            source = await conn.fetchval("select ingest.put_webhook_source($1, $2)", uuid7(), secret)
        source_id = UUID(source.split('"source_id": "')[1][:36])
        for number in range(10):
            taken = await asyncio.gather(
                here.upload(b"uploaded %d" % number, external_id=str(number)),
                here.upload(b"delivered %d" % number, external_id=str(number), source_id=source_id),
            )
            assert len({one.document_id for one in taken}) == 1
