"""A mailbox at a real IMAP server, without the engine: what is new, what a mail says, the bytes of a part."""

from __future__ import annotations

import hashlib
import os
from typing import Any
from uuid import uuid4

import pytest

from penstock.model import SourceId, TenantId
from penstock.settings import Settings
from penstock.sources.errors import LoginRejected, ProviderUnavailable
from penstock.sources.imap.provider import ImapProvider
from penstock.sources.mail.mailbox import Arrived
from penstock.sources.mail.message import Mail
from penstock.sources.protocol import Checkpoint, Cursor, Failed, OpenSource
from tests.plugins.dovecot import USER, Dovecot, mail_with, mails

IMAP = ImapProvider()
pytestmark = pytest.mark.timeout(180)


def source_at(server: Dovecot, config: dict[str, Any] | None = None, **settings: Any) -> OpenSource:
    chosen = Settings(_env_file=None, allow_private_addresses=True, **settings)
    checked = IMAP.check_config(config or server.config)
    return OpenSource(
        TenantId(uuid4()), SourceId(uuid4()), "imap", None, checked, chosen, password=server.password
    )


async def events(source: OpenSource, cursor: Any = None, *, resumed: bool = False) -> list[Any]:
    async with IMAP.open_mailbox(source) as mailbox:
        given = Cursor(cursor, is_full=cursor is None, is_resumed=resumed)
        return [event async for event in mailbox.sync_since(given)]


def arrived(found: list[Any]) -> list[str]:
    return [event.id for event in found if isinstance(event, Arrived)]


async def only_mail(source: OpenSource) -> Mail:
    [message_id] = arrived(await events(source))
    return await fetched(source, message_id)


async def fetched(source: OpenSource, message_id: str) -> Mail:
    async with IMAP.open_mailbox(source) as mailbox:
        mail = await mailbox.fetch_message(message_id)
    assert mail is not None
    return mail


@pytest.mark.parametrize("security", ["config", "tls_config", "starttls_config"])
async def test_new_mails_are_found_once_over_every_kind_of_connection(
    dovecot: Dovecot, security: str
) -> None:
    source = source_at(dovecot, getattr(dovecot, security))
    for mail in mails("a.pdf", "b.pdf"):
        dovecot.deliver(mail)
    first = await events(source)
    assert len(arrived(first)) == 2
    assert first[-1].done
    assert arrived(await events(source, first[-1].cursor)) == []
    dovecot.deliver(mail_with(("c.pdf", b"c")))
    second = await events(source, first[-1].cursor)
    assert len(arrived(second)) == 1
    assert not set(arrived(second)) & set(arrived(first))


async def test_reading_leaves_every_mail_unread(dovecot: Dovecot) -> None:
    path = dovecot.deliver(mail_with(("a.pdf", b"content")))
    source = source_at(dovecot)
    async with IMAP.open_mailbox(source) as mailbox:
        [message_id] = [e.id async for e in mailbox.sync_since(Cursor(None, True)) if isinstance(e, Arrived)]
        mail = await mailbox.fetch_message(message_id)
        assert mail is not None
        content = mail.attachments[0].content
        assert content is not None
        async with content.open() as pieces:
            assert b"".join([piece async for piece in pieces]) == b"content"
    [left] = [each.name for name in ("new", "cur") for each in (dovecot.maildir() / name).iterdir()]
    assert left.startswith(path.name)
    assert "S" not in left.partition(":2,")[2]


async def test_a_mail_says_who_sent_it_what_it_reads_and_what_is_attached(dovecot: Dovecot) -> None:
    inner = mail_with(("inside.pdf", b"x"), subject="The forwarded one")
    made = mail_with(subject="Rechnung März, Übersicht 你好")
    made.replace_header("From", "Jörg Müller <Joerg@Supplier.Example>")
    made["Cc"] = '"Doe, Jane" <jane@example.com>, bob@example.com'
    made["List-Id"] = "<news.supplier.example>"
    made.add_alternative('<p>Hallo <img src="cid:logo@x"></p>', subtype="html")
    page: Any = made.get_payload(1)
    page.add_related(b"png", "image", "png", cid="<logo@x>", filename="logo.png", disposition="inline")
    made.add_attachment(
        b"pdf", maintype="application", subtype="pdf", filename="Übersicht März 2026 " + "x" * 90 + ".pdf"
    )
    made.add_attachment(inner)
    dovecot.deliver(made)
    mail = await only_mail(source_at(dovecot))
    assert (mail.sender, mail.sender_name) == ("joerg@supplier.example", "Jörg Müller")
    assert mail.subject == "Rechnung März, Übersicht 你好"
    assert mail.to == (USER,)
    assert mail.cc == ("jane@example.com", "bob@example.com")
    assert mail.message_id == str(made["Message-ID"]).strip("<>")
    assert mail.sent_at is not None
    assert mail.sent_at.isoformat() == "2026-11-17T08:00:00+00:00"
    assert mail.received_at is not None
    assert mail.headers["list-id"] == "<news.supplier.example>"
    assert mail.text == "Please find the invoice attached."
    logo, pdf, forwarded = mail.attachments
    assert (logo.filename, logo.is_shown, logo.content_id, logo.disposition) == (
        "logo.png",
        True,
        "logo@x",
        "inline",
    )
    assert pdf.filename == "Übersicht März 2026 " + "x" * 90 + ".pdf"
    assert (forwarded.kind, forwarded.filename) == ("message", "The forwarded one.eml")
    assert [each.is_shown for each in (pdf, forwarded)] == [False, False]
    assert forwarded.content is not None


@pytest.mark.parametrize("encoding", ["base64", "quoted-printable", "7bit"])
async def test_a_part_of_several_chunks_is_the_file_that_was_attached(
    dovecot: Dovecot, encoding: str
) -> None:
    content = {
        "base64": os.urandom(3_000_001),
        "quoted-printable": ("Zeile mit Ümlaut und = " * 9 + "\n").encode() * 8_000,
        "7bit": b"a plain line of text\n" * 40_000,
    }[encoding]
    made = mail_with()
    if encoding == "base64":
        made.add_attachment(content, maintype="application", subtype="pdf", filename="big.pdf")
    else:
        made.add_attachment(content.decode(), subtype="csv", filename="big.csv", cte=encoding)
    dovecot.deliver(made)
    source = source_at(dovecot)
    [message_id] = arrived(await events(source))
    digest, largest = hashlib.sha256(), 0
    async with IMAP.open_mailbox(source) as mailbox:
        mail = await mailbox.fetch_message(message_id)
        assert mail is not None
        file = mail.attachments[0].content
        assert file is not None
        async with file.open() as pieces:
            async for piece in pieces:
                digest.update(piece.replace(b"\r\n", b"\n") if encoding != "base64" else piece)
                largest = max(largest, len(piece))
    assert digest.hexdigest() == hashlib.sha256(content).hexdigest()
    assert largest < 300_000


async def test_the_first_pass_reads_the_most_recent_mails_up_to_the_limit(dovecot: Dovecot) -> None:
    for number in range(7):
        dovecot.deliver(mail_with((f"{number}.pdf", b"x"), subject=f"mail {number}"))
    source = source_at(dovecot, mail_initial_sync_max_messages=3)
    found = await events(source)
    subjects = [(await fetched(source, each)).subject for each in arrived(found)]
    assert sorted(subjects) == ["mail 4", "mail 5", "mail 6"]
    assert found[-1].left_out == 4
    dovecot.deliver(mail_with(("new.pdf", b"x"), subject="new"))
    [message_id] = arrived(await events(source, found[-1].cursor))
    assert (await fetched(source, message_id)).subject == "new"


async def test_a_pass_goes_on_from_every_checkpoint(dovecot: Dovecot) -> None:
    for number in range(120):
        dovecot.deliver(mail_with((f"{number}.pdf", b"x")))
    source = source_at(dovecot)
    whole = await events(source)
    assert len(arrived(whole)) == 120
    for at, event in enumerate(whole):
        if isinstance(event, Checkpoint) and not event.done:
            rest = await events(source, event.cursor, resumed=True)
            assert set(arrived(whole[:at])) | set(arrived(rest)) == set(arrived(whole))
            assert not set(arrived(whole[:at])) & set(arrived(rest))


async def test_folders_are_found_by_their_path_and_one_that_is_missing_is_counted(dovecot: Dovecot) -> None:
    dovecot.deliver(mail_with(("a.pdf", b"x")), "Clients/Invoices")
    dovecot.deliver(mail_with(("b.pdf", b"x")), "R&AOk-sum&AOk-s")
    source = source_at(dovecot, {**dovecot.config, "folders": ["Clients/Invoices", "Résumés", "Nowhere"]})
    found = await events(source)
    assert len(arrived(found)) == 2
    [failed] = [each for each in found if isinstance(each, Failed)]
    assert (failed.code, "Nowhere" in failed.message) == ("folder_missing", True)


async def test_a_password_that_the_server_rejects_is_told_apart_from_a_server_that_is_gone(
    dovecot: Dovecot,
) -> None:
    source = source_at(dovecot)
    dovecot.set_password("another")
    with pytest.raises(LoginRejected) as rejected:
        await events(source)
    assert (source.password or "") not in str(rejected.value)
    dovecot.stop()
    with pytest.raises(ProviderUnavailable):
        await events(source)


async def test_a_certificate_that_is_not_trusted_ends_the_connection(dovecot: Dovecot) -> None:
    untrusted = {name: value for name, value in dovecot.tls_config.items() if name != "ca"}
    with pytest.raises(ProviderUnavailable, match="certificate is not trusted"):
        await events(source_at(dovecot, untrusted))
    other_name = {**dovecot.tls_config, "host": "127.0.0.2"}
    with pytest.raises(ProviderUnavailable):
        await events(source_at(dovecot, other_name))


async def test_a_private_address_is_not_reached_unless_the_setting_allows_it(dovecot: Dovecot) -> None:
    source = source_at(dovecot, dovecot.tls_config)
    closed = OpenSource(
        source.tenant_id,
        source.source_id,
        "imap",
        None,
        source.config,
        Settings(_env_file=None),
        password="x",
    )
    with pytest.raises(ProviderUnavailable, match="loopback address"):
        await events(closed)


async def test_a_mail_that_is_gone_is_none(dovecot: Dovecot) -> None:
    path = dovecot.deliver(mail_with(("a.pdf", b"x")))
    source = source_at(dovecot)
    [message_id] = arrived(await events(source))
    for each in dovecot.maildir().rglob(f"{path.name}*"):
        each.unlink()
    async with IMAP.open_mailbox(source) as mailbox:
        assert await mailbox.fetch_message(message_id) is None
