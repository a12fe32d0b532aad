"""A mail as every mailbox describes it: headers, text and attachments, whose bytes stay at the provider."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Final, Literal, TypeAlias

from penstock.sources.protocol import FileContent

AttachmentKind: TypeAlias = Literal["file", "message", "link"]
"""A file, a forwarded mail or other item (as MIME), or a link to a file that is stored elsewhere."""

HEADERS: Final = (
    "auto-submitted",
    "content-type",
    "feedback-id",
    "in-reply-to",
    "list-id",
    "list-unsubscribe",
    "precedence",
    "references",
    "return-path",
    "x-auto-response-suppress",
    "x-mailer",
    "x-mc-user",
    "x-sg-eid",
    "x-ses-outgoing",
)
"""Headers that a mailbox keeps of each mail, in lower case; rules look at these."""
LONGEST_HEADER: Final = 2_000
LONGEST_TEXT: Final = 100_000
MOST_ATTACHMENTS: Final = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class MailAttachment:
    """One attachment; `part` identifies it within its mail and does not change between two fetches.

    `is_shown` says that the mail's HTML shows it by `cid:`. `size` is in bytes, None if the mailbox does not
    tell. `url` is where a link points to; a link has no `content`.
    """

    part: str
    filename: str
    media_type: str
    size: int | None = None
    kind: AttachmentKind = "file"
    disposition: Literal["attachment", "inline"] | None = None
    content_id: str | None = None
    is_shown: bool = False
    url: str | None = None
    content: FileContent | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class Mail:
    """One mail. `id` is the mailbox's own id, `message_id` the sender's Message-ID without angle brackets,
    `sent_at` the sender's date, which every copy of the mail has in common.

    Addresses are in lower case, without names. `folder` is the folder's name, `labels` are Gmail's labels in
    upper case. `is_outgoing`: sent by the mailbox's owner. `text` is the plain text, cut at LONGEST_TEXT.
    """

    id: str
    message_id: str | None
    thread_id: str | None
    sender: str
    sender_name: str
    to: tuple[str, ...]
    cc: tuple[str, ...]
    subject: str
    received_at: datetime | None
    headers: Mapping[str, str]
    sent_at: datetime | None = None
    folder: str | None = None
    labels: frozenset[str] = frozenset()
    is_outgoing: bool = False
    text: str = field(default="", repr=False)
    attachments: tuple[MailAttachment, ...] = ()
