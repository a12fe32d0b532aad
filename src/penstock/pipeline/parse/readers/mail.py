"""Reads mail files: headers, body, and attachments as separate files."""

from __future__ import annotations

import email
import email.policy
import itertools
from email.message import EmailMessage, Message
from email.policy import EmailPolicy, Policy

from penstock.errors import DocumentRejected
from penstock.model import Attachment, Parsed, media
from penstock.pipeline.parse.clean import cleaned_line, moment
from penstock.pipeline.parse.mail_message import MailMessage, bare
from penstock.pipeline.parse.markup import web_page
from penstock.pipeline.parse.protocol import ParserInput
from penstock.pipeline.reasons import Reason, rejected

MOST_PARTS = 1_000
MOST_NESTED = 10


class MailFileReader:
    def read(self, source: ParserInput) -> Parsed:
        try:
            with source.path.open("rb") as file:
                mail = email.message_from_binary_file(file, policy=_counting())
            assert isinstance(mail, EmailMessage)
            _check_nesting(mail)
            text = _body(mail)
            attachments = tuple(
                _attachment(part, number) for number, part in enumerate(_attached(mail), start=1)
            )
        except RecursionError as error:
            raise rejected(Reason.BOMB, "the mail is nested too deeply") from error
        if not any(name in mail for name in ("From", "To", "Subject", "Date", "Message-ID")):
            raise rejected(Reason.MALFORMED, "the file has no mail headers")
        return MailMessage(
            subject=_header(mail, "Subject"),
            sender=_header(mail, "From"),
            to=_header(mail, "To"),
            cc=_header(mail, "Cc"),
            sent=moment(_header(mail, "Date")),
            message_id=_header(mail, "Message-ID"),
            text=text,
            attachments=attachments,
        ).parsed("email")


def _counting() -> EmailPolicy[EmailMessage]:
    """The library's default; it stops at a part too many, since each takes 0.1 ms even if it is empty."""
    numbers = itertools.count(1)

    def part(policy: Policy[EmailMessage]) -> EmailMessage:
        if next(numbers) > MOST_PARTS:
            raise _bomb()
        return EmailMessage(policy)

    return email.policy.default.clone(message_factory=part)


def _bomb() -> DocumentRejected:
    return rejected(Reason.BOMB, f"the mail has more than {MOST_NESTED} levels or {MOST_PARTS:,} parts")


def _header(mail: Message, name: str) -> str | None:
    """A header, or None if it is missing or so broken that the library fails on it."""
    try:
        value = mail.get(name)
    except (ValueError, IndexError, AttributeError, TypeError):  # the library's parser fails on odd addresses
        return None
    return str(value) if value is not None else None


def _body(mail: EmailMessage) -> str:
    part = mail.get_body(preferencelist=("plain", "html"))
    if part is None:
        return ""
    text = _text(part)
    return web_page(text).text if part.get_content_type() == media.HTML else text


def _text(part: Message) -> str:
    data = part.get_payload(decode=True)
    if not isinstance(data, bytes):
        return ""
    try:
        return data.decode(part.get_content_charset() or "utf-8", "replace")
    except LookupError:  # an unknown charset
        return data.decode("cp1252", "replace")


def _attached(mail: EmailMessage) -> list[Message]:
    """Attached files and forwarded mails; the latter keep their own attachments."""
    body = mail.get_body(preferencelist=("plain", "html"))
    found: list[Message] = []
    waiting: list[Message] = [mail]
    while waiting:
        part = waiting.pop(0)
        if part.get_content_type() == media.EML and part is not mail:
            found.append(part)
        elif part.is_multipart():
            waiting = [inner for inner in part.iter_parts() if isinstance(inner, Message)] + waiting  # type: ignore[attr-defined]
        elif part is not body and (part.get_filename() or part.get_content_disposition() == "attachment"):
            found.append(part)
    return found


def _attachment(part: Message, number: int) -> Attachment:
    kind = part.get_content_type()
    if kind == media.EML:
        inner = part.get_payload(0) if part.is_multipart() else part
        assert isinstance(inner, Message)
        name = cleaned_line(part.get_filename() or _header(inner, "Subject"), 120) or f"mail-{number}"
        return Attachment(name if name.endswith(".eml") else f"{name}.eml", inner.as_bytes(), media.EML)
    data = part.get_payload(decode=True)
    name = cleaned_line(part.get_filename(), 200) or f"attachment-{number}.{media.extension(kind)}"
    return Attachment(bare(name), data if isinstance(data, bytes) else b"", kind)


def _check_nesting(mail: Message) -> None:
    waiting, parts = [(mail, 0)], 0
    while waiting:
        part, depth = waiting.pop()
        parts += 1
        if depth > MOST_NESTED or parts > MOST_PARTS:
            raise _bomb()
        payload = part.get_payload()
        if isinstance(payload, list):
            waiting += [(inner, depth + 1) for inner in payload if isinstance(inner, Message)]


READER = MailFileReader()
