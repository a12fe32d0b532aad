"""The corpus of odd mails: the same for the same seed, readable by others, and as odd as it says."""

from __future__ import annotations

import io
import struct
import zipfile
from datetime import UTC, datetime
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

import pypdfium2  # type: ignore[import-untyped]  # it ships no types
import pytest
from PIL import Image

from penstock.simulators.providers import SimulatedClock, World
from penstock.simulators.providers.world.corpus.templates import LOGO, PASSWORD, TEMPLATES
from penstock.simulators.providers.world.mime import SentMail, parse_mail

NOW = datetime(2026, 11, 16, 12, tzinfo=UTC)


def written(template: str, seed: int = 1, **fields: Any) -> SentMail:
    world = World(seed, contacts=5, mails=0, clock=SimulatedClock(NOW))
    return world.mails.deliver("outlook", template, **fields).sent


def read(mail: SentMail) -> EmailMessage:
    parsed = message_from_bytes(mail.as_bytes(), policy=policy.default)
    assert isinstance(parsed, EmailMessage)
    return parsed


def pdf_text(content: bytes, password: str | None = None) -> str:
    document = pypdfium2.PdfDocument(content, password=password)
    return str(document[0].get_textpage().get_text_range())


@pytest.mark.parametrize("template", TEMPLATES)
def test_every_mail_is_the_same_for_the_same_seed_and_survives_being_read(template: str) -> None:
    mail = written(template, size=20_000)
    assert mail.as_bytes() == written(template, size=20_000).as_bytes()
    assert mail.as_bytes() != written(template, 2, size=20_000).as_bytes()
    again = parse_mail(mail.as_bytes())
    assert again.headers == mail.headers
    assert [(part.filename, part.content) for part in again.files] == [
        (part.filename, part.content) for part in mail.files
    ]
    assert (again.text, again.html) == (mail.text, mail.html)
    assert again.body == mail.body
    parsed = read(mail)
    assert (parsed["Subject"], parsed.defects) == (mail.header("Subject"), [])


def test_every_mail_is_another_one() -> None:
    world = World(contacts=5, mails=0)
    mails = [world.mails.deliver("outlook", "invoice").sent for _ in range(50)]
    assert len({mail.header("Message-ID") for mail in mails}) == 50
    assert len({mail.files[0].content for mail in mails}) == 50


def test_a_large_attachment_is_as_large_as_asked_and_can_be_read() -> None:
    (scan,) = written("large", size=3_000_000).files
    assert 3_000_000 < len(scan.content) < 3_200_000
    assert "Scanned contract" in pdf_text(scan.content)


def test_a_locked_pdf_opens_only_with_its_password() -> None:
    (locked,) = written("locked_pdf").files
    with pytest.raises(pypdfium2.PdfiumError, match="assword"):
        pdf_text(locked.content)
    assert "Total due" in pdf_text(locked.content, PASSWORD)


def test_a_forwarded_mail_has_its_own_attachment() -> None:
    for template in ("forwarded", "forwarded_unnamed"):
        (eml,) = read(written(template)).iter_attachments()
        assert (eml.get_content_type(), eml.get_filename() is None) == (
            "message/rfc822",
            template == "forwarded_unnamed",
        )
        within = eml.get_content()
        assert [part.get_content_type() for part in within.iter_attachments()] == ["application/pdf"]


def test_a_signature_shows_its_image_by_its_content_id() -> None:
    mail = written("signature_image")
    (logo,) = mail.files
    assert (logo.disposition, logo.content_id, f"cid:{LOGO}" in (mail.html or "")) == ("inline", LOGO, True)
    assert Image.open(io.BytesIO(logo.content)).size == (160, 48)


def test_pdfs_can_be_inline_or_have_a_content_id() -> None:
    (inline,), (named,) = written("inline_pdf").files, written("content_id_pdf").files
    assert (inline.disposition, inline.content_id) == ("inline", None)
    assert (named.disposition, named.content_id is None) == ("attachment", False)


def test_a_winmail_dat_holds_a_file() -> None:
    (winmail,) = written("tnef").files
    signature, _ = struct.unpack_from("<IH", winmail.content)
    found, at = {}, 6
    while at < len(winmail.content):
        _, number, length = struct.unpack_from("<BII", winmail.content, at)
        data = winmail.content[at + 9 : at + 9 + length]
        assert struct.unpack_from("<H", winmail.content, at + 9 + length) == (sum(data) & 0xFFFF,)
        found[number & 0xFFFF], at = data, at + 11 + length
    assert (winmail.filename, winmail.media_type, signature) == (
        "winmail.dat",
        "application/ms-tnef",
        0x223E9F78,
    )
    assert found[0x8010].rstrip(b"\0").endswith(b".pdf")
    assert "Total due" in pdf_text(found[0x800F])


def test_an_invitation_is_a_calendar_request() -> None:
    parts = {part.get_content_type(): part for part in read(written("calendar")).walk()}
    assert parts["text/calendar"].get_param("method") == "REQUEST"
    assert "application/ics" in parts


def test_a_zip_holds_a_pdf() -> None:
    (packed,) = written("zip").files
    with zipfile.ZipFile(io.BytesIO(packed.content)) as archive:
        assert [name.rpartition(".")[2] for name in archive.namelist()] == ["pdf", "txt"]


def test_a_charset_can_be_unknown_and_a_subject_run_from_right_to_left() -> None:
    strange = read(written("unknown_charset"))
    body = strange.get_body(("plain",))
    assert body is not None
    with pytest.raises(LookupError):
        body.get_content()
    assert "\u00fcber" in written("unknown_charset").text
    hebrew = read(written("rtl"))
    assert hebrew["Subject"].startswith("\u05d7")
    assert next(hebrew.iter_attachments()).get_filename("").startswith("\u05d7")


def test_fields_replace_what_the_template_says() -> None:
    file = {"filename": "a.txt", "content": "SGVsbG8=", "media_type": "text/plain", "disposition": "inline"}
    headers = {"X-Mailer": "none", "Message-ID": "<fixed@example>"}
    given: dict[str, Any] = {"from": "A <a@b.example>", "subject": "\u00dcber", "text": "New"}
    mail = written("invoice", **given, headers=headers, attachments=[file, {"lines": ["made"]}])
    assert (mail.header("From"), mail.header("Subject"), mail.text) == ("A <a@b.example>", "\u00dcber", "New")
    assert (mail.header("x-mailer"), mail.header("message-id")) == ("none", "<fixed@example>")
    assert [part.filename.rpartition(".")[2] for part in mail.files] == ["pdf", "txt", "pdf"]
    assert mail.files[1].content == b"Hello"
    with pytest.raises(ValueError, match="no template 'cats'"):
        written("cats")
    with pytest.raises(ValueError, match="no folder 'cats'"):
        written("plain", folder="cats")


@pytest.mark.parametrize(
    "raw",
    [
        b"",
        b"\r\n",
        b"Subject: =?x-unknown?B?w7w=?=\r\n\r\nx",
        b"Content-Type: multipart/mixed; boundary=x\r\n\r\nno parts",
        b"Content-Type: message/rfc822\r\n\r\nFrom: a@b.example\r\n\r\nHello",
        b"Content-Type: text/plain; charset=nonsense\r\nContent-Transfer-Encoding: base64\r\n\r\n!!!!",
        b"From: \xff\xfe <a@b.example>\r\nContent-Disposition: \xff\r\n\r\n\xff",
    ],
)
def test_any_bytes_are_a_mail(raw: bytes) -> None:
    mail = World(contacts=1, mails=0).mails.deliver("gmail", raw=raw).sent
    assert mail.as_bytes() == raw
    assert isinstance(mail.text, str)
