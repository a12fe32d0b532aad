"""Writes email files."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime

from penstock.model import Attachment


def eml(
    subject: str,
    text: str,
    *,
    sender: str = "Anna Ash <anna@example.com>",
    to: str = "Ben Birch <ben@example.com>",
    sent: datetime | None = None,
    attachments: Sequence[Attachment] = (),
) -> bytes:
    """A plain-text email with its attachments."""
    mail = EmailMessage(policy=SMTP)
    mail["From"], mail["To"], mail["Subject"] = sender, to, subject
    mail["Date"] = format_datetime(sent or datetime.now(UTC))
    mail.set_content(text)
    for attachment in attachments:
        main, _, sub = (attachment.mime_type or "application/octet-stream").partition("/")
        mail.add_attachment(attachment.content, maintype=main, subtype=sub, filename=attachment.filename)
    return bytes(mail)
