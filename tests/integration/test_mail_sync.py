"""Mails become documents: each attachment once, whatever happens to the mail or to the watermark."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

import pytest

from penstock.simulators.providers import serving_providers
from penstock.simulators.providers.world.delivery import DeliveredMail
from penstock.simulators.providers.world.mail import OWNER
from penstock.sources.gmail.provider import GmailProvider
from penstock.sources.outlook.provider import OutlookProvider
from penstock.sources.sync import writing
from tests.integration.mailboxes import KINDS, mailroom
from tests.integration.reading_sources import opened, read
from tests.plugins.database import Database
from tests.plugins.workers import eventually

both = pytest.mark.parametrize("kind", KINDS)
pytestmark = pytest.mark.timeout(180)


def names(*mails: DeliveredMail) -> list[str]:
    return sorted(name for mail in mails for name, _ in mail.files)


@both
async def test_an_attachment_becomes_a_document_that_says_which_mail_it_came_with(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with mailroom(database, tmp_path, kind) as room:
        mail = room.deliver("invoice")
        job = await room.sync()
        assert (job["kind"], job["items_written"], job["items_failed"]) == ("delta_sync", 1, 0)
        assert await room.files() == names(mail)
        [ingestion] = await room.ingestions()
        noted = json.loads(ingestion["source_metadata"])
        [item] = await room.items()
        assert {name: noted[name] for name in ("provider", "message_id", "attachment_filename")} == {
            "provider": kind,
            "message_id": mail.message_id,
            "attachment_filename": mail.files[0][0],
        }
        assert noted["external_id"] == item["external_id"]
        assert noted["from"] == mail.sent.header("From").rpartition("<")[2].rstrip(">").lower()
        assert noted["subject"] == mail.sent.header("Subject")
        assert noted["received_at"].endswith("Z")
        assert noted["folder"].lower() == "inbox"
        assert noted["verdict"]["decision"] in ("keep", "ask")
        await room.indexed(1)
        (hit, *_) = await room.works.find(mail.files[0][0].removesuffix(".pdf"), mode="text", limit=1)
        assert str(hit.document_id) == str(item["document_id"])


@both
async def test_a_mail_that_is_read_moved_or_archived_changes_nothing(
    database: Database, tmp_path: Path, kind: str
) -> None:
    config = {"folders": ["inbox", "archive"]} if kind == "outlook" else {}
    async with mailroom(database, tmp_path, kind, config) as room:
        mail = room.deliver("two_files")
        assert (await room.sync())["items_written"] == 2
        before = await room.items()
        for action in ("change", "move"):
            room.change(action, mail)
            assert (await room.sync())["items_written"] == 0
        full = await room.sync(full=True)
        assert (full["items_written"], full["items_removed"]) == (0, 0)
        assert [each["external_id"] for each in await room.items()] == [
            each["external_id"] for each in before
        ]
        assert len(await room.ingestions()) == 2


@both
async def test_mails_that_leave_the_mailbox_keep_their_documents(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with mailroom(database, tmp_path, kind) as room:
        kept, trashed = room.deliver("invoice"), room.deliver("invoice")
        await room.sync()
        room.change("trash", trashed)
        room.change("delete", kept)
        assert (await room.sync())["items_removed"] == 0
        assert (await room.sync(full=True))["items_removed"] == 0
        assert await room.files() == names(kept, trashed)


@both
async def test_a_mail_that_is_delivered_twice_is_one_item(
    database: Database, tmp_path: Path, kind: str
) -> None:
    config = {"folders": ["inbox", "archive"]} if kind == "outlook" else {}
    async with mailroom(database, tmp_path, kind, config) as room:
        mail = room.deliver("invoice")
        await room.sync()
        again = {"folder": "archive"} if kind == "outlook" else {}
        room.deliver(raw=mail.sent.as_bytes(), **again)
        room.deliver(raw=mail.sent.as_bytes())
        job = await room.sync()
        assert (job["items_written"], job["items_failed"]) == (0, 0)
        assert job["items_unchanged"] >= 1
        assert len(await room.items()) == len(await room.ingestions()) == 1


@both
async def test_equal_files_in_two_mails_are_one_document_with_two_ingestions(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with mailroom(database, tmp_path, kind) as room:
        mail = room.deliver("invoice")
        other = mail.sent.as_bytes().replace(mail.message_id.encode(), b"<another@mail.example>")
        room.deliver(raw=other)
        job = await room.sync()
        assert job["items_written"] == 2
        first, second = await room.ingestions()
        assert first["document_id"] == second["document_id"]
        assert (
            json.loads(first["source_metadata"])["message_id"]
            != (json.loads(second["source_metadata"])["message_id"])
        )
        assert await room.files() == names(mail)


@both
async def test_a_forged_mail_with_a_known_message_id_replaces_nothing(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with mailroom(database, tmp_path, kind) as room:
        mail, other = room.deliver("invoice"), room.deliver("locked_pdf", folder="archive", labels=("TRASH",))
        await room.sync()
        [genuine] = await room.items()
        forged = other.sent.as_bytes().replace(other.message_id.encode(), mail.message_id.encode())
        room.deliver(raw=forged)
        await room.sync()
        items = await room.items()
        assert len(items) == 2
        assert items[0] == genuine
        assert len({each["document_id"] for each in items}) == 2


@both
async def test_a_watermark_the_provider_forgot_is_replaced_without_duplicates_or_gaps(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with mailroom(database, tmp_path, kind) as room:
        early = room.deliver("invoice")
        await room.sync()
        late = room.deliver("invoice")
        if kind == "outlook":
            room.simulators.outlook.deltas.forget()
        else:
            room.simulators.world.gmail.oldest_history = room.simulators.world.gmail.history_id + 1
        job = await room.sync()
        assert (job["items_written"], job["items_failed"]) == (1, 0)
        assert await room.files() == names(early, late)
        if kind == "gmail":
            room.simulators.world.gmail.oldest_history = 0
        last = room.deliver("invoice")
        await room.sync()
        assert await room.files() == names(early, late, last)
        assert len(await room.ingestions()) == 3


@both
async def test_the_text_of_a_mail_is_a_document_only_if_the_source_says_so(
    database: Database, tmp_path: Path, kind: str
) -> None:
    async with mailroom(database, tmp_path, kind, {"mail_text": True}) as room:
        mail = room.deliver("plain")
        await room.sync()
        await room.indexed(1)
        [item] = await room.items()
        assert item["document_type"] == f"{kind}.mail"
        assert item["external_id"].endswith("#text")
        [name] = await room.files()
        assert name == f"{mail.sent.header('Subject')}.txt"
        (hit, *_) = await room.works.find("Thursday", mode="text", limit=1)
        assert str(hit.document_id) == str(item["document_id"])
        await room.works.engine.sources.configure(room.works.tenant_id, room.source_id, {"mail_text": None})
        room.deliver("plain")
        assert (await room.sync())["items_written"] == 0


async def test_a_first_sync_reads_the_newest_mails_of_the_last_days_and_counts_the_others(
    database: Database, tmp_path: Path
) -> None:
    async with mailroom(
        database, tmp_path, "outlook", mails=40, mail_initial_sync_max_messages=5, mail_look_back_days=3_650
    ) as room:
        [job] = await room.rows("select * from ingest.ingestion_job")
        inbox = room.simulators.world.outlook.mailbox(OWNER).well_known["inbox"]
        newest = list(inbox.before(None))
        assert job["items_left_out"] == len(newest) - 5 > 0
        read = {json.loads(each["raw_payload"])["mailbox_id"] for each in await room.items()}
        assert read == {each.immutable_id for each in newest[:5] if each.sent.files or each.sent.links}


@both
async def test_the_watermark_moves_only_together_with_the_items(
    database: Database, tmp_path: Path, kind: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker that dies while it writes leaves neither; what it had taken in is found again."""
    async with mailroom(database, tmp_path, kind) as room:
        mail = room.deliver("invoice")
        cursor = "select cursor::text from ingest.source_stream where stream = 'mail'"
        before = await room.works.value(cursor)

        async def broken(*_: Any) -> None:
            raise OSError("the connection was lost")

        async def has_failed() -> bool:
            failed = "select exists (select from ingest.ingestion_job where error_code = 'OSError')"
            return bool(await room.works.value(failed))

        with monkeypatch.context() as patched:
            patched.setattr(writing._Written, "put", broken)
            await room.works.engine.sources.sync(room.works.tenant_id, room.source_id)
            await eventually(has_failed, within=60)
            assert await room.works.value(cursor) == before
            assert await room.items() == []
        await room.sync()
        assert await room.works.value(cursor) != before
        assert await room.files() == names(mail)
        assert len(await room.items()) == 1


@both
async def test_a_mail_that_moves_while_the_mailbox_is_read_is_not_lost(
    database: Database, tmp_path: Path, kind: str
) -> None:
    config = {"folders": ["inbox", "archive"]} if kind == "outlook" else {}
    async with mailroom(database, tmp_path, kind, config) as room:
        mails = [room.deliver("invoice") for _ in range(6)]
        room.simulators.fail(
            "drift", kind, operation="messages.get", skip=2, action=lambda: room.change("move", mails[-1])
        )
        await room.sync()
        await room.sync()
        assert await room.files() == names(*mails)
        assert len(await room.items()) == 6


async def test_disconnecting_a_mailbox_leaves_files_that_somebody_else_brought_too(
    database: Database, tmp_path: Path
) -> None:
    async with mailroom(database, tmp_path, "outlook") as room:
        shared, own = room.deliver("invoice"), room.deliver("invoice")
        await room.sync()
        await room.indexed(2)
        content = next(part.content for part in shared.sent.files)
        uploaded = await room.works.hand_in(content, shared.files[0][0])
        assert not uploaded.created
        sources = room.works.engine.sources
        await sources.disconnect(room.works.tenant_id, room.source_id, documents="delete")

        async def is_deleted() -> bool:
            return await room.files() == names(shared)

        await eventually(is_deleted, within=60)
        assert own.files
        left = await room.rows("select * from ingest.document where deleted_at is null")
        assert [each["source_id"] for each in left] == [None]
        (hit, *_) = await room.works.find(shared.files[0][0].removesuffix(".pdf"), mode="text", limit=1)
        assert str(hit.document_id) == str(uploaded.document_id)


@pytest.mark.parametrize(("kind", "provider"), [("outlook", OutlookProvider()), ("gmail", GmailProvider())])
async def test_a_large_attachment_is_read_in_small_pieces(
    kind: str, provider: OutlookProvider | GmailProvider
) -> None:
    async with serving_providers(contacts=3, mails=0, threads=0) as simulators:
        mail = simulators.deliver(kind, "large", size=24_000_000)  # type: ignore[arg-type]
        config = {"threads": False} if kind == "gmail" else {}
        source = opened(simulators, kind, config, token=simulators.issue_tokens(kind)[0])
        async with provider.open(source) as reader:
            [item] = (await read(reader, "mail")).items
            assert item.content is not None
            hashed, largest, total = hashlib.sha256(), 0, 0
            async with item.content.open() as parts:
                async for part in parts:
                    hashed.update(part)
                    largest, total = max(largest, len(part)), total + len(part)
        assert [(item.content.filename, hashed.hexdigest())] == mail.files
        assert total > 24_000_000
        assert largest <= 1 << 20
