"""Mails and attachments for tests of the rules."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from penstock.sources.mail.message import Mail, MailAttachment

OWN = "office@northmill.example"

PLAIN = Mail(
    id="1",
    message_id="1@example.com",
    thread_id="t1",
    sender="ann@example.com",
    sender_name="Ann",
    to=(OWN,),
    cc=(),
    subject="Hello",
    received_at=None,
    headers={},
    folder="Inbox",
    text="See you tomorrow.",
)
PDF = MailAttachment(
    part="2", filename="x.pdf", media_type="application/pdf", size=50_000, disposition="attachment"
)
IMAGE = MailAttachment(
    part="2", filename="x.png", media_type="image/png", size=50_000, disposition="attachment"
)
LOGO = replace(IMAGE, disposition="inline", content_id="logo@example.com", is_shown=True)


def mail(*attachments: MailAttachment, **changes: Any) -> Mail:
    numbered = tuple(replace(each, part=str(number + 2)) for number, each in enumerate(attachments))
    return replace(PLAIN, attachments=numbered, **changes)
