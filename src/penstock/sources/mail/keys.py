"""The keys of a mail: the same for every copy of it, for every copy of a file in it, and for no other."""

from __future__ import annotations

import hashlib
import json
from typing import Final

from penstock.sources.mail.message import Mail, MailAttachment
from penstock.sources.mail.rules.context import seen_key
from penstock.sources.reading.times import iso

TEXT_PART = "text"
LENGTH: Final = 32


def mail_key(mail: Mail) -> str:
    """What a mail keeps when it is moved, copied or delivered twice; decision 0031.

    The Message-ID alone is not enough: the sender chooses it, so a forged mail could take the place of a real
    one.
    """
    described = [
        mail.message_id,
        mail.sender,
        mail.subject,
        iso(mail.sent_at),
        [[each.filename, each.size] for each in mail.attachments],
    ]
    return _digest(json.dumps(described))


def repeat_key(mail: Mail, attachment: MailAttachment) -> str:
    """Equal for files of one sender that look the same by name and size, such as a logo in every mail."""
    return _digest(json.dumps([mail.sender, seen_key(attachment)]))


def thread_key(thread_id: str) -> str:
    """A provider's id of a conversation can be long; this one fits an index."""
    return _digest(thread_id)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "replace")).hexdigest()[:LENGTH]
