"""Mail over real SMTP: what arrives, over which line, and which failures are final."""

from __future__ import annotations

import asyncio
import base64
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import SettingInvalid
from penstock.processes.channels import smtp_connections
from penstock.processes.channels.channel import ProviderFailed
from penstock.processes.channels.email import EmailChannel
from penstock.settings import Settings
from tests.plugins.runs import NoRun
from tests.plugins.smtp import HANG_UP, STALL, Certificate, MailServer, Security, mail_server
from tests.plugins.workers import eventually

RUN = NoRun()


def mail(**changes: Any) -> dict[str, Any]:
    return {
        "from_address": None,
        "to_addresses": ["anna@example.org"],
        "cc_addresses": [],
        "bcc_addresses": [],
        "reply_to": None,
        "subject": "The gate is open",
        "body_text": "Water comes in.\n.\nA line of one dot is above.",
        "body_html": None,
        "message_id": f"<{uuid.uuid4()}@penstock.invalid>",
        "attachments": [],
        **changes,
    }


@asynccontextmanager
async def channel_to(server: MailServer, **settings: Any) -> AsyncIterator[EmailChannel]:
    timeout = settings.pop("timeout", 10.0)
    channel = EmailChannel(Settings(**{**server.settings, **settings}), timeout=timeout)
    try:
        yield channel
    finally:
        await channel.close()


async def failure(channel: EmailChannel, **changes: Any) -> ProviderFailed:
    with pytest.raises(ProviderFailed) as caught:
        await channel.call(mail(**changes), RUN)
    return caught.value


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
async def test_a_mail_arrives_over_each_kind_of_connection(
    security: Security, certificate: Certificate
) -> None:
    encrypted = None if security == "none" else certificate
    async with (
        mail_server(security, certificate=encrypted) as server,
        channel_to(server, smtp_ca_file=certificate.path) as channel,
    ):
        request = mail()
        answer = await channel.call(request, RUN)
        assert answer == {"message_id": request["message_id"], "response": "250 queued as 1"}
        [got] = server.received
        assert got.tls == (security != "none")
        assert (got.sender, got.recipients) == ("mill@example.org", ("anna@example.org",))
        assert got.message["Message-ID"] == request["message_id"]
        assert got.message["Subject"] == "The gate is open"
        assert got.message.get_content().splitlines() == request["body_text"].splitlines()


@pytest.mark.parametrize("security", ["starttls", "tls"])
async def test_a_server_with_an_untrusted_certificate_gets_no_mail(
    security: Security, certificate: Certificate
) -> None:
    async with mail_server(security, certificate=certificate) as server, channel_to(server) as channel:
        error = await failure(channel)
        assert error.retriable
        assert "certificate" in error.reason
        assert server.received == []


async def test_mail_is_not_sent_unencrypted_when_the_server_has_no_starttls() -> None:
    async with mail_server() as server, channel_to(server, smtp_security="starttls") as channel:
        assert (await failure(channel)).retriable
        assert server.received == []


@pytest.mark.parametrize("security", ["none", "starttls", "tls"])
async def test_a_login_is_given_where_one_is_set(security: Security, certificate: Certificate) -> None:
    encrypted = None if security == "none" else certificate
    login = {"smtp_username": "mill", "smtp_ca_file": certificate.path}
    async with mail_server(security, certificate=encrypted, login=("mill", "stone")) as server:
        async with channel_to(server, smtp_password="stone", **login) as channel:
            await channel.call(mail(), RUN)
        assert len(server.received) == 1
        async with channel_to(server, smtp_password="sand", **login) as channel:
            error = await failure(channel)
            assert not error.retriable
            assert "535" in error.reason
            assert "sand" not in str(error)
        async with channel_to(server, smtp_ca_file=certificate.path) as channel:
            assert not (await failure(channel)).retriable
        assert len(server.received) == 1


async def test_text_html_and_attachments_come_out_as_they_went_in() -> None:
    content = bytes(range(256)) * 300
    attached = [
        {"filename": "plän.pdf", "mime_type": "application/pdf", "content_base64": _base64(content)},
        {"filename": "old.eml", "mime_type": "message/rfc822", "content_base64": _base64(b"Subject: x\n\ny")},
        {"filename": "what", "mime_type": None, "content_base64": ""},
    ]
    async with mail_server() as server, channel_to(server) as channel:
        await channel.call(
            mail(
                from_address="Die Mühle, am Bach <mill@example.org>",
                to_addresses=["Łukasz <anna@example.org>", "bob@bücher.example"],
                cc_addresses=["cc@example.org"],
                bcc_addresses=["bcc@example.org", "anna@example.org"],
                reply_to="desk@example.org",
                subject="Größe ✓ " + "lang " * 40,
                body_text="Grüße\n" + "x" * 2_000,
                body_html="<p>Grüße</p>",
                attachments=attached,
            ),
            RUN,
        )
        [got] = server.received
        message = got.message
        assert got.content.isascii()
        assert got.recipients == (
            "anna@example.org",
            "bob@xn--bcher-kva.example",
            "cc@example.org",
            "bcc@example.org",
        )
        assert "bcc" not in {name.lower() for name in message}
        assert b"bcc@example.org" not in got.content
        [sender] = message["From"].addresses
        assert (sender.display_name, sender.addr_spec) == ("Die Mühle, am Bach", "mill@example.org")
        assert [each.display_name for each in message["To"].addresses] == ["Łukasz", ""]
        assert message["Cc"] == "cc@example.org"
        assert message["Reply-To"] == "desk@example.org"
        assert message["Subject"].split() == ["Größe", "✓", *["lang"] * 40]
        text, html = message.get_body(("plain",)), message.get_body(("html",))
        assert text is not None
        assert html is not None
        assert text.get_content().splitlines() == ["Grüße", "x" * 2_000]
        assert html.get_content().splitlines() == ["<p>Grüße</p>"]
        parts = list(message.iter_attachments())
        assert [part.get_filename() for part in parts] == ["plän.pdf", "old.eml", "what"]
        assert [part.get_content_type() for part in parts] == [
            "application/pdf",
            "application/octet-stream",
            "application/octet-stream",
        ]
        assert [part.get_content() for part in parts] == [content, b"Subject: x\n\ny", b""]


async def test_a_non_ascii_address_is_sent_only_to_a_server_that_supports_it() -> None:
    async with mail_server() as server, channel_to(server) as channel:
        await channel.call(mail(to_addresses=["jörg@example.org"]), RUN)
        assert server.received[0].recipients == ("jörg@example.org",)
    async with mail_server(smtputf8=False) as server, channel_to(server) as channel:
        assert not (await failure(channel, to_addresses=["jörg@example.org"])).retriable
        await channel.call(mail(subject="Grüße"), RUN)


@pytest.mark.parametrize("step", ["MAIL", "RCPT", "DATA"])
@pytest.mark.parametrize(
    ("answer", "retriable"), [("451 later", True), ("550 no", False), ("421 going down", True)]
)
async def test_the_first_digit_of_an_smtp_reply_decides_whether_to_retry(
    step: Any, answer: str, retriable: bool
) -> None:
    async with mail_server() as server, channel_to(server) as channel:
        server.answer(step, answer)
        error = await failure(channel)
        assert error.retriable is retriable
        assert answer in error.reason
        assert server.received == []
        await channel.call(mail(), RUN)
        assert len(server.received) == 1


async def test_if_some_recipients_are_refused_the_others_get_it_and_the_attempt_failed_for_good() -> None:
    async with mail_server() as server, channel_to(server) as channel:
        server.refused["bob@example.org"] = "451 greylisted"
        error = await failure(channel, to_addresses=["anna@example.org", "bob@example.org"])
        assert not error.retriable
        assert "1 of 2 recipients" in error.reason
        assert server.received[0].recipients == ("anna@example.org",)


@pytest.mark.parametrize("step", ["EHLO", "MAIL", "RCPT", "DATA"])
async def test_a_connection_that_breaks_may_be_retried(step: Any) -> None:
    async with mail_server() as server, channel_to(server) as channel:
        server.answer(step, HANG_UP)
        assert (await failure(channel)).retriable
        await channel.call(mail(), RUN)
        assert len(server.received) == 1


async def test_a_silent_or_unreachable_server_may_be_retried() -> None:
    gone = asyncio.Event()

    async def silent(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await gone.wait()
        writer.close()

    server = MailServer("none")
    async with await asyncio.start_server(silent, "127.0.0.1", 0) as listener:
        server.port = listener.sockets[0].getsockname()[1]
        async with channel_to(server, timeout=0.2) as channel:
            error = await failure(channel)
            assert error.retriable
            assert "Timed out" in error.reason
        gone.set()
    async with channel_to(server) as channel:
        assert (await failure(channel)).retriable


async def test_connections_are_kept_and_no_more_than_set() -> None:
    async with mail_server() as server, channel_to(server, smtp_connections=3) as channel:
        await asyncio.gather(*(channel.call(mail(), RUN) for _ in range(30)))
        assert len(server.received) == 30
        assert server.connections == 3
        await channel.close()
        await eventually(lambda: not server.open)
        await channel.call(mail(), RUN)
        assert server.connections == 4


async def test_a_pooled_connection_that_the_server_closed_is_replaced_silently(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with mail_server() as server, channel_to(server) as channel:
        await channel.call(mail(), RUN)
        server.hang_up()
        await channel.call(mail(), RUN)
        assert server.connections == 2
        monkeypatch.setattr(smtp_connections, "IDLE_SECONDS", 0.0)
        await channel.call(mail(), RUN)
        assert server.connections == 3
        assert len(server.received) == 3


async def test_a_cancelled_mail_leaves_no_half_used_connection() -> None:
    async with mail_server() as server, channel_to(server, smtp_connections=1) as channel:
        await channel.call(mail(), RUN)
        server.answer("RCPT", STALL)
        sending = asyncio.create_task(channel.call(mail(), RUN))
        await server.stalled.wait()
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        await channel.call(mail(), RUN)
        assert len(server.received) == 2
        assert server.connections == 2


async def test_without_a_server_or_a_sender_the_attempt_says_which_variable_to_set() -> None:
    error = await failure(EmailChannel(Settings()))
    assert error.retriable
    assert "PENSTOCK_SMTP_HOST" in str(error)
    async with mail_server() as server, channel_to(server, smtp_from=None) as channel:
        error = await failure(channel)
        assert "PENSTOCK_SMTP_FROM" in str(error)


def test_certificates_that_cannot_be_read_are_refused_at_the_start(tmp_path: Path) -> None:
    (tmp_path / "no.pem").write_text("no certificate")
    for name in ("no.pem", "missing.pem"):
        with pytest.raises(SettingInvalid, match="PENSTOCK_SMTP_CA_FILE"):
            EmailChannel(Settings(smtp_host="127.0.0.1", smtp_ca_file=tmp_path / name))


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode()
