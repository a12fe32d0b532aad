"""Mails of a plain mailbox become documents: each attachment once, whatever the server does."""

from __future__ import annotations

import asyncio
import json
import os
from functools import partial
from pathlib import Path

import pytest

from penstock.errors import Conflict, InvalidArgument, NotFound
from penstock.sources.imap.session import Session
from tests.integration.imap_sources import imap_room
from tests.plugins.database import Database
from tests.plugins.documents import Works, works_on
from tests.plugins.dovecot import PASSWORD, Dovecot, mail_with
from tests.plugins.workers import eventually

pytestmark = pytest.mark.timeout(240)


@pytest.fixture
def idling(monkeypatch: pytest.MonkeyPatch) -> asyncio.Event:
    """Set when a worker asks a server to tell of new mails."""
    asked, wait = asyncio.Event(), Session.idle

    async def idle(self: Session, seconds: float) -> bool:
        asked.set()
        return await wait(self, seconds)

    monkeypatch.setattr(Session, "idle", idle)
    return asked


async def test_an_attachment_becomes_a_document_that_says_which_mail_it_came_with(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    async with imap_room(database, tmp_path, dovecot) as room:
        mail = mail_with(("invoice-zebra.txt", b"Invoice zebra over 120 EUR"))
        dovecot.deliver(mail)
        job = await room.sync()
        assert (job["items_written"], job["items_failed"]) == (1, 0)
        await room.indexed("invoice-zebra.txt")
        [ingestion] = await room.rows("select source_metadata from ingest.ingestion")
        noted = json.loads(ingestion["source_metadata"])
        assert {name: noted[name] for name in ("provider", "message_id", "from", "subject", "folder")} == {
            "provider": "imap",
            "message_id": mail["Message-ID"],
            "from": "billing@supplier.example",
            "subject": "Invoice March",
            "folder": "inbox",
        }
        (hit, *_) = await room.works.find("zebra", mode="text", limit=1)
        assert hit.filename == "invoice-zebra.txt"


async def test_a_large_attachment_is_taken_in_whole(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    content = b"%PDF-1.4\n" + os.urandom(6_000_000)
    async with imap_room(database, tmp_path, dovecot) as room:
        dovecot.deliver(mail_with(("large.bin", content)))
        assert (await room.sync())["items_written"] == 1
        [row] = await room.rows("select size_bytes from files.file")
        assert row["size_bytes"] == len(content)


async def test_new_numbers_for_all_mails_give_no_duplicates_and_lose_nothing(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    async with imap_room(database, tmp_path, dovecot) as room:
        for name in ("a.txt", "b.txt"):
            dovecot.deliver(mail_with((name, name.encode())))
        assert (await room.sync())["items_written"] == 2
        before = await room.rows("select cursor from ingest.source_stream")
        await asyncio.to_thread(dovecot.stop)
        dovecot.renumber()
        dovecot.deliver(mail_with(("c.txt", b"c")))
        await asyncio.to_thread(dovecot.start)
        job = await room.sync()
        after = await room.rows("select cursor from ingest.source_stream")
        numbers = [
            json.loads(rows[0]["cursor"])["folders"]["inbox"]["uidvalidity"] for rows in (before, after)
        ]
        assert numbers[0] != numbers[1]
        assert (job["items_written"], job["items_unchanged"], job["items_failed"]) == (1, 2, 0)
        assert await room.files() == ["a.txt", "b.txt", "c.txt"]
        assert len(await room.rows("select 1 from ingest.ingestion")) == 3


async def test_a_mail_that_is_moved_to_another_folder_is_the_same_item(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    (dovecot.deliver(mail_with(("old.txt", b"old")), "Archive")).unlink()
    async with imap_room(database, tmp_path, dovecot, {"folders": ["inbox", "Archive"]}) as room:
        path = dovecot.deliver(mail_with(("a.txt", b"a")))
        assert (await room.sync())["items_written"] == 1
        [moved] = [each for each in dovecot.maildir().rglob(f"{path.name}*") if each.is_file()]
        dovecot.deliver(moved.read_bytes(), "Archive")
        moved.unlink()
        job = await room.sync()
        assert (job["items_written"], job["items_unchanged"], job["items_removed"]) == (0, 1, 0)
        assert await room.files() == ["a.txt"]


async def test_a_wrong_password_needs_its_user_and_the_right_one_recovers(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    async with imap_room(database, tmp_path, dovecot) as room:
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        await asyncio.to_thread(dovecot.set_password, "changed at the server")
        dovecot.deliver(mail_with(("a.txt", b"a")))
        await sources.sync(tenant_id, room.source_id)
        health = await room.becomes("needs_you")
        assert health.action == f"Set the password again: penstock source set-password {room.source_id}"
        assert health.reason is not None
        assert health.reason.startswith("login_rejected: ")
        await sources.set_password(tenant_id, room.source_id, "changed at the server")
        await room.becomes("healthy")
        await room.indexed("a.txt")
        # The password before is deleted, not kept.
        assert len(await room.rows("select 1 from vault.secret where purpose = 'password'")) == 1


async def test_a_server_that_is_away_is_tried_again_without_its_user(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    async with imap_room(database, tmp_path, dovecot) as room:
        await asyncio.to_thread(dovecot.stop)
        await room.works.engine.sources.sync(room.works.tenant_id, room.source_id)
        health = await room.becomes("retrying")
        assert health.code == "provider_unavailable"
        dovecot.deliver(mail_with(("a.txt", b"a")))
        await asyncio.to_thread(dovecot.start)
        await room.indexed("a.txt")


async def test_a_password_is_not_sent_to_another_server(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    """Anyone who may change the settings of a source must not get its password that way."""
    async with imap_room(database, tmp_path, dovecot) as room:
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        await sources.configure(tenant_id, room.source_id, {"host": "localhost"})
        await sources.sync(tenant_id, room.source_id)
        health = await room.becomes("needs_you")
        assert "given for other settings" in (health.reason or "")
        await sources.set_password(tenant_id, room.source_id, dovecot.password)
        await room.becomes("healthy")


async def test_the_password_is_in_no_listing_log_or_table(
    database: Database, tmp_path: Path, dovecot: Dovecot, capfd: pytest.CaptureFixture[str]
) -> None:
    secret = "5ecret-Zebra-91"
    dovecot.set_password(secret)
    async with imap_room(database, tmp_path, dovecot, watching=True) as room:
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        await asyncio.to_thread(dovecot.set_password, "another")
        await sources.sync(tenant_id, room.source_id)
        await room.becomes("needs_you")
        shown = [*await sources.list(tenant_id), await sources.show(tenant_id, room.source_id)]
        assert secret not in repr(shown)
        tables = await room.rows(
            "select format('%I.%I', schemaname, tablename) as name from pg_tables"
            " where schemaname not in ('pg_catalog', 'information_schema')"
        )
        for table in tables:
            found = await room.rows(
                f"select 1 from {table['name']} t where t::text like $1",
                f"%{secret}%",
            )
            assert not found, table["name"]
    printed = capfd.readouterr()
    assert secret not in printed.out + printed.err


async def test_another_tenant_can_neither_use_nor_change_the_password(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    async with (
        imap_room(database, tmp_path, dovecot, working=False) as room,
        works_on(database, tmp_path, slug="rival") as rival,
    ):
        sources = rival.engine.sources
        with pytest.raises(NotFound):
            await sources.set_password(rival.tenant_id, room.source_id, "mine now")
        [secret] = await room.rows("select secret_id from vault.secret where purpose = 'password'")
        own = await sources.add(rival.tenant_id, "imap", dovecot.config, password="rival's", sync_every=None)
        with pytest.raises(InvalidArgument):
            async with rival.engine.tenants.transaction(rival.tenant_id) as conn:
                await conn.fetchval("select ingest.set_password($1, $2)", own.source_id, secret["secret_id"])
        with pytest.raises(NotFound):
            async with rival.engine.tenants.transaction(rival.tenant_id) as conn:
                await rival.engine.secrets.get(conn, rival.tenant_id, secret["secret_id"])


async def test_a_source_needs_its_password_and_an_account_is_added_once(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    async with imap_room(database, tmp_path, dovecot, working=False) as room:
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        for password in (None, "", "two\nlines"):
            with pytest.raises(InvalidArgument) as refused:
                await sources.add(tenant_id, "imap", dovecot.config, password=password)
            assert "two" not in str(refused.value)
        with pytest.raises(InvalidArgument):
            await sources.add(tenant_id, "folder", {"path": str(tmp_path)}, password="x")
        with pytest.raises(Conflict):
            await sources.add(tenant_id, "imap", dovecot.config, password=PASSWORD)
        with pytest.raises(InvalidArgument, match="without TLS"):
            await sources.add(
                tenant_id, "imap", {**dovecot.config, "host": "imap.example.com"}, password=PASSWORD
            )


async def test_a_disconnected_source_leaves_no_password(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    async with imap_room(database, tmp_path, dovecot, working=False) as room:
        await room.works.engine.sources.disconnect(room.works.tenant_id, room.source_id, documents="keep")
        assert await room.rows("select 1 from vault.secret where purpose = 'password'") == []
        assert await room.rows("select 1 from ingest.mail_watch") == []


async def test_a_mail_that_arrives_wakes_the_sync_by_itself(
    database: Database, tmp_path: Path, dovecot: Dovecot, idling: asyncio.Event
) -> None:
    """Nothing else would: this source has no schedule."""
    async with imap_room(database, tmp_path, dovecot, watching=True) as room:
        await asyncio.wait_for(idling.wait(), 60)
        for name in ("first.txt", "second.txt"):
            dovecot.deliver(mail_with((name, name.encode())))
            await eventually(partial(_has_file, room.works, name), within=60)


async def test_a_server_that_restarts_is_waited_on_again(
    database: Database, tmp_path: Path, dovecot: Dovecot, idling: asyncio.Event
) -> None:
    async with imap_room(database, tmp_path, dovecot, watching=True) as room:
        await asyncio.wait_for(idling.wait(), 60)
        await asyncio.to_thread(dovecot.stop)
        dovecot.deliver(mail_with(("meanwhile.txt", b"meanwhile")))
        await asyncio.to_thread(dovecot.start)
        await eventually(lambda: _has_file(room.works, "meanwhile.txt"), within=90)


async def test_mailboxes_are_shared_between_workers_and_taken_over(
    database: Database, tmp_path: Path, dovecot: Dovecot
) -> None:
    async with imap_room(database, tmp_path, dovecot, watching=True, working=False) as room:
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        for host in ("localhost", "127.0.0.2", "127.0.0.3"):
            config = {**dovecot.config, "host": host}
            await sources.add(tenant_id, "imap", config, password=dovecot.password, sync_every=None)
        first, second = (room.works.engine._mail_watch() for _ in range(2))
        try:
            await first.run_once()
            assert len(first.watched) == 4
            for _ in range(2):
                await second.run_once()
                await first.run_once()
            await second.run_once()
            assert (len(first.watched), len(second.watched)) == (2, 2)
            assert not first.watched & second.watched
            await second.start()
            await second.stop()
            await first.run_once()
            assert len(first.watched) == 4
            await sources.pause(tenant_id, room.source_id)
            await first.run_once()
            assert room.source_id not in first.watched
        finally:
            for each in (first, second):
                await each.start()
                await each.stop()


async def _has_file(works: Works, name: str) -> bool:
    query = "select exists (select from ingest.document where filename = $1 and status = 'indexed')"
    return bool(await works.value(query, name))
