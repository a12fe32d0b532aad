"""What is particular to emails: what they hold, who gets them, and when."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import InvalidArgument, NotFound, TenantClosed
from penstock.model import Attachment, TenantId, uuid7
from tests.integration.messaging import Facts, Mail, messaging, root_id
from tests.plugins.database import Database
from tests.plugins.workers import eventually

WRONG: list[tuple[str, dict[str, Any]]] = [
    ("to_addresses", {"to": []}),
    ("to", {"to": "a@example.org"}),
    ("address", {"to": ["nobody"]}),
    ("address", {"to": ["a@example.org\nBcc: b@example.org"]}),
    ("address", {"cc": ["<>"]}),
    ("address", {"reply_to": "two words@example.org"}),
    ("address", {"sender": "@"}),
    ("subject", {"subject": "two\nlines"}),
    ("subject", {"subject": "nul\x00"}),
    ("body_text", {"text": None}),
    ("body_text", {"text": "", "html": ""}),
    ("text", {"text": "\ud800"}),
    ("attachments", {"attachments": [Attachment("", b"x")]}),
    ("attachments", {"attachments": [Attachment("a\x00b", b"x")]}),
    ("attachments", {"attachments": [Attachment("large", bytes(25 * 1024 * 1024 + 1))]}),
    ("at", {"at": datetime(2030, 1, 1)}),  # noqa: DTZ001  # no zone is what is wrong
]

WRONG_IN_SQL: list[tuple[str, list[str | None] | None, str | None]] = [
    ("to_addresses", None, None),
    ("address", [None], None),
    ("address", ["a@example.org", None], None),
    ("attachments", ["a@example.org"], "{}"),
    ("attachments", ["a@example.org"], "7"),
    ("attachments", ["a@example.org"], "null"),
    ("attachments", ["a@example.org"], "[7]"),
    ("attachments", ["a@example.org"], "[{}]"),
    ("attachments", ["a@example.org"], '[{"filename": "a"}]'),
    ("attachments", ["a@example.org"], '[{"filename": "a", "content_base64": "!"}]'),
    ("attachments", ["a@example.org"], '[{"filename": "", "content_base64": ""}]'),
]


async def test_an_email_arrives_as_it_was_written(database: Database, tmp_path: Path) -> None:
    async with messaging("email", database, tmp_path) as post, post.works.working():
        sent = await post.works.engine.messages.send_email(
            post.works.tenant_id,
            to=["Anna Ash <anna@example.org>", "bo@example.org"],
            cc=["cy@example.org"],
            bcc=["di@example.org"],
            reply_to="gate@example.org",
            sender="Müller & Söhne <mill@example.com>",
            subject="Wasser läuft 💧",
            text="Der Schieber ist offen.\n",
            html="<p>Der Schieber ist <b>offen</b>.</p>\n",
            attachments=[
                Attachment("Plan für März.pdf", b"%PDF-1.7\x00\xff", "application/pdf"),
                Attachment("leer", b""),
            ],
        )
        await post.over()
        assert (await post.facts(sent)).succeeded == 1
        assert isinstance(post.provider, Mail)
        [received] = post.provider.server.received
        assert received.sender == "mill@example.com"
        assert set(received.recipients) == {
            "anna@example.org", "bo@example.org", "cy@example.org", "di@example.org",
        }  # fmt: skip
        message = received.message
        assert (message["Subject"], message["Reply-To"]) == ("Wasser läuft 💧", "gate@example.org")
        assert "Müller & Söhne" in message["From"]
        assert b"di@example.org" not in received.content
        text, html = message.get_body(("plain",)), message.get_body(("html",))
        assert text is not None
        assert html is not None
        assert "Schieber ist offen" in text.get_content()
        assert "<b>offen</b>" in html.get_content()
        assert [(part.get_filename(), part.get_content_type()) for part in message.iter_attachments()] == [
            ("Plan für März.pdf", "application/pdf"),
            ("leer", "application/octet-stream"),
        ]
        content = [part.get_payload(decode=True) for part in message.iter_attachments()]
        assert content == [b"%PDF-1.7\x00\xff", b""]
        worker_payload = await post.works.value(
            "select worker_payload from comms.send_email_attempt_succeeded"
        )
        assert message["Message-ID"] in worker_payload
        assert "250 queued as 1" in worker_payload


async def test_every_attempt_of_an_email_has_the_same_message_id(database: Database, tmp_path: Path) -> None:
    async with messaging("email", database, tmp_path) as post:
        assert isinstance(post.provider, Mail)
        server = post.provider.server
        server.answer("DATA", "451 try again later")
        async with post.works.working():
            sent = await post.send()
            await post.over()
        facts = await post.facts(sent)
        assert (facts.attempts, facts.failed, facts.succeeded) == (2, 1, 1)
        asked = await post.admin.fetch(
            "select internal.run_function('comms.get_email_payload',"
            " jsonb_build_object('send_email_attempt_id', send_email_attempt_id))"
            " -> 'payload' ->> 'message_id'"
            " from comms.send_email_attempt, set_config('penstock.tenant_id', $1, false)",
            str(post.works.tenant_id),
        )
        assert [row[0] for row in asked] == [server.received[-1].message["Message-ID"]] * 2


async def test_an_email_some_recipients_of_which_are_refused_is_not_sent_again(
    database: Database, tmp_path: Path
) -> None:
    async with messaging("email", database, tmp_path) as post, post.works.working():
        sent = await post.works.engine.messages.send_email(
            post.works.tenant_id,
            to=["miller@example.org", post.provider.nobody],
            subject="Open",
            text="Now",
        )
        await post.over()
        assert post.provider.taken == ["Open"]
        assert await post.facts(sent) == Facts(attempts=1, failed=1, succeeded=0, retriable=(False,))
        assert "1 of 2 recipients" in await post.error(sent)


async def test_without_a_mail_server_an_email_waits_for_one_to_be_set(
    database: Database, tmp_path: Path
) -> None:
    async with messaging("email", database, tmp_path, smtp_host=None) as post, post.works.working():
        await post.back_off("1 hour")
        sent = await post.send()
        await eventually(lambda: post.error(sent))
        assert "PENSTOCK_SMTP_HOST" in await post.error(sent)
        assert await post.state(sent) == "open"


async def test_an_email_for_later_is_not_sent_before_its_time(database: Database, tmp_path: Path) -> None:
    later = datetime.now(UTC) + timedelta(days=1)
    async with messaging("email", database, tmp_path) as post, post.works.working():
        messages, tenant_id = post.works.engine.messages, post.works.tenant_id
        sent = await messages.send_email(tenant_id, to=["a@example.org"], subject="Later", text="x", at=later)
        now = await post.send("Now")
        await eventually(lambda: post.provider.taken)
        shown = await messages.show(tenant_id, sent.process_id)
        assert (shown.state, shown.attempts, shown.next_check_at) == ("open", 0, later)
        task_id = await post.admin.fetchval(
            "select task_id from internal.open_root where root_id = $1", root_id(sent)
        )
        async with database.connect("operator") as operator:
            await operator.execute("select queues.run_now($1)", task_id)
        assert (await messages.wait(tenant_id, sent.process_id, 15)).state == "succeeded"
        assert (await messages.wait(tenant_id, now.process_id, 15)).state == "succeeded"
        assert post.provider.taken == ["Now", "Later"]


async def test_an_invalid_email_is_refused_with_its_field_and_leaves_nothing(
    database: Database, tmp_path: Path
) -> None:
    good = {"to": ["a@example.org"], "subject": "Open", "text": "Now"}
    async with messaging("email", database, tmp_path) as post:
        messages = post.works.engine.messages
        for field, options in WRONG:
            with pytest.raises(InvalidArgument) as refused:
                await messages.send_email(post.works.tenant_id, **{**good, **options})
            assert refused.value.field == field, options
            assert refused.value.remedy, options
        with pytest.raises((NotFound, TenantClosed)):
            await messages.send_email(TenantId(uuid7()), to=["a@example.org"], subject="Open", text="Now")
        for table in ("email_message", "email_attachment", "send_email_task"):
            assert await post.works.value(f"select count(*) from comms.{table}") == 0, table
        assert await post.is_over()


async def test_an_invalid_address_or_attachment_is_refused_in_sql(database: Database, tmp_path: Path) -> None:
    async with messaging("email", database, tmp_path) as post:
        for field, addresses, attachments in WRONG_IN_SQL:
            with pytest.raises(InvalidArgument) as refused:
                async with post.works.engine.tenants.transaction(post.works.tenant_id) as conn:
                    await conn.execute(
                        "select comms.create_email_message($1, 's', 'b', _attachments => $2)",
                        addresses,
                        attachments,
                    )
            assert refused.value.field == field, (addresses, attachments)


async def test_a_tenant_sees_only_its_own_messages(database: Database, tmp_path: Path) -> None:
    async with messaging("email", database, tmp_path) as post:
        sent = await post.send()
        messages = post.works.engine.messages
        async with database.connect("operator") as operator:
            other = TenantId(uuid7())
            await operator.execute(
                "select all_tenants.create_tenant($1, $2, 'other', 'Other', 'wordllama')", other, uuid7()
            )
        with pytest.raises(NotFound):
            await messages.show(other, sent.process_id)
        for wrong in (
            "",
            "7",
            "comms.send_email/",
            "comms.send_email/x",
            "comms.send_fax/1",
            "comms.send_email/-1",
        ):
            with pytest.raises(InvalidArgument):
                await messages.show(post.works.tenant_id, wrong)
