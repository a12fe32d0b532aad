"""A mail from what the server says about it; the bytes of its attachments stay there."""

from __future__ import annotations

from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from datetime import UTC, datetime, timedelta, timezone
from typing import Final, TypeAlias

from penstock.sources.imap.decoding import decoded
from penstock.sources.imap.limits import LONGEST_HEADERS, LONGEST_PAGE, LONGEST_PLAIN
from penstock.sources.imap.structure import MailPart, parts_of
from penstock.sources.imap.values import Value
from penstock.sources.imap.wire import PROVIDER
from penstock.sources.mail.attachments import AttachmentContent, named
from penstock.sources.mail.charsets import decode
from penstock.sources.mail.fields import bare_id, header_fields, split_address, split_addresses
from penstock.sources.mail.header_text import date_in, headers_in, plain
from penstock.sources.mail.message import HEADERS, LONGEST_TEXT, MOST_ATTACHMENTS, Mail, MailAttachment
from penstock.sources.mail.text import shown_ids, text_of_page, tidy

Fetch: TypeAlias = Callable[[MailPart], AbstractAsyncContextManager[AsyncIterator[bytes]]]

_FIELDS: Final = ("from", "sender", "to", "cc", "subject", "date", "message-id", *HEADERS)
ITEMS: Final = (
    "UID FLAGS INTERNALDATE BODYSTRUCTURE "
    f"BODY.PEEK[HEADER.FIELDS ({' '.join(name.upper() for name in _FIELDS)})]<0.{LONGEST_HEADERS}>"
)
_MONTHS: Final = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")


def is_draft(found: Mapping[bytes, Value]) -> bool:
    flags = found.get(b"FLAGS")
    return isinstance(flags, list) and any(
        isinstance(each, bytes) and each.lower() == b"\\draft" for each in flags
    )


def mail_parts(found: Mapping[bytes, Value]) -> Sequence[MailPart]:
    return list(parts_of(found.get(b"BODYSTRUCTURE")))


def text_parts(parts: Sequence[MailPart]) -> Mapping[MailPart, int]:
    """The parts to read for the text of a mail, and how many bytes of each: its first plain text, and its
    HTML if there is no other text, or if it may show attachments."""
    wanted: dict[MailPart, int] = {}
    texts = [each for each in parts if each.is_text]
    plain_text = next((each for each in texts if each.media_type == "text/plain"), None)
    page = next((each for each in texts if each.media_type == "text/html"), None)
    if plain_text is not None:
        wanted[plain_text] = LONGEST_PLAIN
    if page is not None and (plain_text is None or any(each.content_id for each in parts)):
        wanted[page] = LONGEST_PAGE
    return wanted


def mail_of(
    message_id: str,
    found: Mapping[bytes, Value],
    *,
    folder: str,
    owner: str,
    parts: Sequence[MailPart],
    texts: Mapping[MailPart, bytes],
    fetch: Fetch,
) -> Mail:
    """`texts` are the encoded bytes of the parts that `text_parts` named."""
    raw = headers_in(content_in(found))
    first: dict[str, str] = {}
    for name, value in raw:
        first.setdefault(name, value)
    address, name = split_address(first.get("from") or first.get("sender") or "")
    contents = {
        each: decode(decoded(content, each.encoding), each.charset) for each, content in texts.items()
    }
    page = next((text for each, text in contents.items() if each.media_type == "text/html"), "")
    text = next((text for each, text in contents.items() if each.media_type == "text/plain"), "")
    shown = shown_ids(page)
    references = first.get("references", "").split()
    reference = references[0] if references else first.get("in-reply-to") or first.get("message-id")
    return Mail(
        id=message_id,
        message_id=bare_id(first.get("message-id")),
        thread_id=bare_id(reference),
        sender=address,
        sender_name=plain(name),
        to=split_addresses(first.get("to")),
        cc=split_addresses(first.get("cc")),
        subject=plain(first.get("subject", "")),
        sent_at=date_in(first.get("date")),
        received_at=_internal_date(found.get(b"INTERNALDATE")),
        headers=header_fields([{"name": name, "value": value} for name, value in raw]),
        folder=folder,
        is_outgoing=bool(address) and address == owner.lower(),
        text=(tidy(text) or text_of_page(page))[:LONGEST_TEXT],
        attachments=tuple(
            # One more than are read, so that a mail with too many is noticed.
            _attachment(each, shown, fetch)
            for each in [part for part in parts if not part.is_text][: MOST_ATTACHMENTS + 1]
        ),
    )


def _attachment(part: MailPart, shown: frozenset[str], fetch: Fetch) -> MailAttachment:
    is_mail = part.media_type == "message/rfc822"
    name = named(part.filename or "mail", "eml") if is_mail else part.filename or "attachment"
    return MailAttachment(
        part=part.section,
        filename=name,
        media_type=part.media_type,
        size=part.content_size,
        kind="message" if is_mail else "file",
        disposition=(
            "inline" if part.disposition == "inline" else "attachment" if part.disposition else None
        ),
        content_id=part.content_id,
        is_shown=part.content_id is not None and part.content_id.lower() in shown,
        content=AttachmentContent(PROVIDER, name, part.media_type, lambda: fetch(part)),
    )


def content_in(found: Mapping[bytes, Value]) -> bytes:
    """The bytes that were asked for: the only item whose name begins with BODY[."""
    for name, value in found.items():
        if name.startswith(b"BODY[") and isinstance(value, bytes):
            return value
    return b""


def _internal_date(value: Value) -> datetime | None:
    """Such as 17-Nov-2026 20:33:40 +0100."""
    try:
        day, time, zone = value.decode("ascii").split() if isinstance(value, bytes) else ("", "", "")
        number, month, year = day.split("-")
        hour, minute, second = (int(each) for each in time.split(":"))
        offset = timedelta(hours=int(zone[1:3]), minutes=int(zone[3:5]))
        return datetime(
            int(year),
            _MONTHS.index(month.lower()) + 1,
            int(number),
            hour,
            minute,
            min(second, 59),
            tzinfo=timezone(-offset if zone.startswith("-") else offset),
        ).astimezone(UTC)
    except (ValueError, OverflowError):
        return None
