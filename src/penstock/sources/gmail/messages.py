"""Gmail's JSON of a message as a mail; the bytes of its attachments stay at Google."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Any, Final, Literal

from penstock.sources.gmail.bodies import files_of, header, html_of, text_of
from penstock.sources.gmail.contents import PROVIDER, GmailAttachment
from penstock.sources.mail.attachments import AttachmentContent, named
from penstock.sources.mail.fields import bare_id, header_fields, line, split_address, split_addresses
from penstock.sources.mail.message import LONGEST_TEXT, Mail, MailAttachment
from penstock.sources.mail.text import shown_ids
from penstock.sources.reading.records import RecordUnusable, required_text
from penstock.sources.reading.times import parse_time

if TYPE_CHECKING:
    from penstock.sources.bindings.calls import Calls

_LONGEST_DATE: Final = 100
_ENDINGS: Final = {"message/rfc822": "eml", "text/calendar": "ics"}


def mail_of(calls: Calls, message: Mapping[str, Any]) -> Mail:
    """RecordUnusable names a field that is missing."""
    message_id = required_text(message, "id")
    payload = message.get("payload")
    if not isinstance(payload, Mapping):
        raise RecordUnusable("payload", "is missing")
    sender, sender_name = split_address(header(payload, "from"))
    labels = frozenset(str(each).upper() for each in message.get("labelIds") or ())
    shown = shown_ids(html_of(payload, into_mails=False))
    return Mail(
        id=message_id,
        message_id=bare_id(header(payload, "message-id")),
        thread_id=line(message.get("threadId")) or None,
        sender=sender,
        sender_name=sender_name,
        to=split_addresses(header(payload, "to")),
        cc=split_addresses(header(payload, "cc")),
        subject=line(header(payload, "subject")),
        sent_at=_sent_at(header(payload, "date")),
        received_at=parse_time(message.get("internalDate")),
        headers=header_fields(payload.get("headers")),
        folder="inbox" if "INBOX" in labels else None,
        labels=labels,
        # A mail to oneself is in the inbox, too.
        is_outgoing="SENT" in labels and "INBOX" not in labels,
        text=text_of(payload, into_mails=False)[:LONGEST_TEXT],
        attachments=tuple(_attachment(calls, message_id, part, shown) for part in files_of(payload)),
    )


def _attachment(
    calls: Calls, message_id: str, part: Mapping[str, Any], shown: Collection[str]
) -> MailAttachment:
    media_type = line(part.get("mimeType")).lower() or "application/octet-stream"
    name = line(part.get("filename"))
    if ending := _ENDINGS.get(media_type):
        name = named(name, ending)
    name = name or f"attachment-{part.get('partId') or 0}"
    content_id = bare_id(header(part, "content-id"))
    body = part.get("body")
    size = body.get("size") if isinstance(body, Mapping) else None
    return MailAttachment(
        part=line(part.get("partId")) or "0",
        filename=name,
        media_type=media_type,
        size=size if isinstance(size, int) and not isinstance(size, bool) else None,
        kind="message" if media_type == "message/rfc822" else "file",
        disposition=_disposition(header(part, "content-disposition")),
        content_id=content_id,
        is_shown=content_id is not None and content_id.lower() in shown,
        content=AttachmentContent(PROVIDER, name, media_type, GmailAttachment(calls, message_id, part).fetch),
    )


def _disposition(given: str | None) -> Literal["attachment", "inline"] | None:
    match (given or "").partition(";")[0].strip().lower():
        case "attachment":
            return "attachment"
        case "inline":
            return "inline"
        case _:
            return None


def _sent_at(given: str | None) -> datetime | None:
    try:
        sent = parsedate_to_datetime((given or "")[:_LONGEST_DATE])
        return sent.replace(tzinfo=UTC) if sent.tzinfo is None else sent.astimezone(UTC)
    except (TypeError, ValueError, OverflowError):
        return None
