"""What the rules know beside a mail: own addresses, clients, repeated pictures, conversations."""

from __future__ import annotations

import random
from email.message import EmailMessage
from pathlib import Path

import pytest

from penstock.model import uuid7
from penstock.sources.mail.keys import mail_key
from penstock.sources.mail.message import Mail
from penstock.sources.mail.stored_memory import StoredMemory
from tests.integration.mailboxes import Mailroom, mailroom
from tests.plugins.database import Database

pytestmark = pytest.mark.timeout(180)


def with_picture(number: int) -> bytes:
    """A mail with a picture that is in each of them."""
    made = EmailMessage()
    made["From"] = "ann@partner.example"
    made["To"] = "office@northmill.example"
    made["Subject"] = f"Visit {number}"
    made["Message-ID"] = f"<{number}@partner.example>"
    made["Date"] = f"Tue, 17 Nov 2026 08:0{number}:00 +0000"
    made.set_content("See you soon.")
    content = random.Random(1).randbytes(40_000)
    made.add_attachment(content, "image", "png", filename="team.png")
    return made.as_bytes()


def letter(sender: str, thread_id: str | None = None) -> Mail:
    return Mail(
        id="1",
        message_id=None,
        thread_id=thread_id,
        sender=sender,
        sender_name="",
        to=(),
        cc=(),
        subject="",
        received_at=None,
        headers={},
    )


def memory(room: Mailroom) -> StoredMemory:
    return StoredMemory(room.works.engine.tenants, room.works.tenant_id, room.source_id)


async def test_a_picture_that_a_sender_repeats_is_dropped_from_the_fourth_mail_on(
    database: Database, tmp_path: Path
) -> None:
    async with mailroom(database, tmp_path, "outlook") as room:
        for number in range(3):
            room.deliver(raw=with_picture(number))
            await room.sync()
        sources, tenant_id = room.works.engine.sources, room.works.tenant_id
        assert (await sources.skipped(tenant_id)).items == []
        room.deliver(raw=with_picture(3))
        await room.sync()
        [decision] = (await sources.skipped(tenant_id)).items
        assert (decision.name, decision.subject) == ("repeated_image", "Visit 3")
        files = await room.files()
        await room.sync(full=True)
        assert [each.subject for each in (await sources.skipped(tenant_id)).items] == ["Visit 3"]
        assert await room.files() == files, "what was kept stays, what was dropped stays dropped"


async def test_the_rules_know_the_owner_the_clients_and_the_conversations(
    database: Database, tmp_path: Path
) -> None:
    async with mailroom(database, tmp_path, "outlook") as room:
        room.deliver("invoice")
        await room.sync()
        [row] = await room.rows(
            "select raw_payload ->> 'thread_id' as thread, external_id from ingest.source_document"
        )
        assert row["thread"] is not None
        async with database.connect("admin") as admin:
            for tenant_id, domain in ((room.works.tenant_id, "client.example"), (uuid7(), "theirs.example")):
                await admin.execute(
                    "insert into ingest.client_key (client_id, key, tenant_id, origin)"
                    " values ($1, 'domain:' || $2, $3, 'domain')",
                    uuid7(),
                    domain,
                    tenant_id,
                )
        known = await memory(room).about(
            [
                letter("ann@mail.client.example", row["thread"]),
                letter("bob@theirs.example", "another"),
                letter("broken\x00@sender"),
            ]
        )
        contexts = [each.context for each in known]
        assert contexts[0].client_domains == {"client.example"}, "of this tenant alone"
        assert contexts[0].accepted_threads == {row["thread"]}
        assert contexts[1].accepted_threads == frozenset()
        assert all("@" in address for address in contexts[0].own_addresses)
        assert len(contexts[0].own_addresses) == 1
        assert await memory(room).about([]) == []
        assert row["external_id"].startswith("mail/")
        assert len(mail_key(letter("a@b.example"))) == 32
